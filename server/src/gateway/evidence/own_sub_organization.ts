/**
 * Which sub-organization a credential belongs to, for clients that know only the parent. Public keys are public, and anyone can add a
 * stranger's to an organization of his own: so only those count where the key is proven (state/proven.ts), and the others only where none
 * does. That a key which is proven nowhere belongs to the only sub-organization that knows it is the gateway's word. A wallet's key, which
 * anybody knows, counts unproven only in the sign-in that proves it (state/first_sign_in.ts). All of it is told by rows: no page of a
 * sub-organization is read, however large those are that a key was written into.
 *
 * A passkey is named by an id that whoever registers it chooses. Of those with the same id only those count whose key made the stamp. A
 * look-up reads the oldest ones alone, so a stranger who registers an id a thousand times costs as much as one who does it a few times, and
 * keeps no owner out: an id is known to others only after its owner has made it.
 */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { ambiguousCredential, type Evidence, isMadeBy, lookupOf, unverifiedEvidence } from "../../evidence/evidence.ts";
import { isIdentityLookup, isPasskeyLookup, type KeyLookup } from "../../state/credentials.ts";
import { firstSignInMs, isWalletCurve, unprovenKeyMs } from "../../state/first_sign_in.ts";
import { findProvenInSubOrganizations, findUnprovenAlone, findUnprovenInSubOrganizations } from "../../store/across.ts";
import { type CallerRow, findCallerByUser } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { findByContact } from "./contact_caller.ts";

type Dependencies = { store: Store; curves: Curves };

/**
 * The caller in the one that counts; undefined where no sub-organization knows the credential. Throws the refusal of evidence that does
 * not verify where some know it, and none of their keys made this.
 */
export async function findOwnSubOrganization(
  { store, curves }: Dependencies,
  parentId: string,
  evidence: Evidence,
): Promise<CallerRow | undefined> {
  const lookup = lookupOf(evidence);
  if (lookup.by === "user") {
    const own = await findCallerByUser(store, lookup.organizationId, lookup.userId);
    return own?.parentId === parentId ? own : undefined;
  }
  if (lookup.by === "contact") return findByContact(store, parentId, evidence, lookup, true);
  if (lookup.by === "authProxy") return undefined;
  const matching = matcherOf(curves, evidence);
  const proven = await findProven(store, parentId, lookup);
  const counting = proven.filter(matching);
  // A stranger who has seen a token can register its identity, too, and must not keep its owner out: the oldest counts.
  if (isIdentityLookup(lookup) && counting.length > 0) return counting[0];
  if (counting.length > 0) return onlyOne(counting, evidence);
  const unproven = await findUnproven(store, parentId, lookup);
  // Its first act may have been committed between the two statements.
  const meanwhile = await findProven(store, parentId, lookup);
  const now = meanwhile.filter(matching);
  const found = now.length > 0 ? now : unproven.filter(matching);
  if (found.length > 0) return onlyOne(found, evidence);
  if (meanwhile.length + unproven.length > 0) throw unverifiedEvidence(evidence);
  return undefined;
}

function findProven(store: Store, parentId: string, { curve, publicKey }: KeyLookup): Promise<CallerRow[]> {
  return findProvenInSubOrganizations(store, parentId, curve, publicKey);
}

async function findUnproven(store: Store, parentId: string, lookup: KeyLookup): Promise<CallerRow[]> {
  const { curve, publicKey } = lookup;
  const nowMs = Date.now();
  if (isWalletCurve(curve)) return findUnprovenAlone(store, parentId, curve, publicKey, nowMs - firstSignInMs);
  const fromMs = isPasskeyLookup(lookup) ? 0 : nowMs - unprovenKeyMs;
  return findUnprovenInSubOrganizations(store, parentId, curve, publicKey, fromMs);
}

/** No row is verified twice. */
function matcherOf(curves: Curves, evidence: Evidence): (row: CallerRow) => boolean {
  const verdicts = new Map<string, boolean>();
  return ({ organizationId, credential }) => {
    if (credential === undefined) return false;
    const name = `${organizationId} ${credential.credentialId}`;
    const verdict = verdicts.get(name) ?? isMadeBy(curves, evidence, credential);
    verdicts.set(name, verdict);
    return verdict;
  };
}

function onlyOne([match, ...others]: readonly CallerRow[], evidence: Evidence): CallerRow | undefined {
  if (others.length > 0) throw ambiguousCredential(evidence);
  return match;
}

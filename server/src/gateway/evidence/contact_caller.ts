/**
 * Who speaks by a verification token: whoever has its contact, as the signer decides it too (signer/decision/authenticate.ts). With the id of
 * a parent, verified contacts of its sub-organizations are searched. Whoever asks has a stamp that verifies: others learn nothing here
 * about who has which contact.
 */
import { noSuchOrganization } from "../../endpoints/known_faults.ts";
import { ambiguousCredential, type Evidence } from "../../evidence/evidence.ts";
import { refuseUnlessCodesSignIn } from "../../rules/features.ts";
import type { ContactLookup } from "../../state/credentials.ts";
import { findVerifiedInSubOrganizations } from "../../store/across.ts";
import { type CallerRow, findCallerByUser, findCallersByContact } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { readOrganizationPage } from "../../views/organization_page.ts";

/** The caller; undefined where nobody counts. Throws where several do, and where the organization wants no sign-in by codes. */
export async function findByContact(
  store: Store,
  organizationId: string,
  evidence: Evidence,
  lookup: ContactLookup,
  inSubOrganizations: boolean,
): Promise<CallerRow | undefined> {
  const named = await findCallerByUser(store, organizationId, "");
  if (named === undefined) throw noSuchOrganization();
  const own = isIssuedFor(named, lookup) ? await findOwn(store, named, lookup) : [];
  const searchesBelow = own.length === 0 && inSubOrganizations && named.parentId === undefined;
  const [caller, ...others] = searchesBelow ? await findBelow(store, organizationId, lookup) : own;
  if (caller === undefined) return undefined;
  if (others.length > 0) throw ambiguousCredential(evidence);
  const settings = await readOrganizationPage(store, caller.organizationId, "settings");
  refuseUnlessCodesSignIn(settings, lookup.kind, caller.organizationId);
  return caller;
}

/** Those who have it verified; in a sub-organization where nobody has, those who have it at all. */
async function findOwn(
  store: Store,
  { organizationId, parentId }: CallerRow,
  lookup: ContactLookup,
): Promise<CallerRow[]> {
  const verified = await findCallersByContact(store, organizationId, lookup, true);
  if (verified.length > 0 || parentId === undefined) return verified;
  return findCallersByContact(store, organizationId, lookup, false);
}

/** Those who have it verified in the sub-organizations of a parent. A token that one of these has issued counts there alone. */
async function findBelow(store: Store, parentId: string, lookup: ContactLookup): Promise<CallerRow[]> {
  if (lookup.organizationId === parentId) return findVerifiedInSubOrganizations(store, parentId, lookup);
  const issuer = await findCallerByUser(store, lookup.organizationId, "");
  return issuer?.parentId === parentId ? findCallersByContact(store, issuer.organizationId, lookup, true) : [];
}

/** A token counts in the organization that issued it, and in those below. */
function isIssuedFor({ organizationId, parentId }: CallerRow, { organizationId: issuerId }: ContactLookup): boolean {
  return issuerId === organizationId || issuerId === parentId;
}

/**
 * What a leaf names by SHA-256, and what of it may be shown. Whatever is found is shown only if the leaf names it: bytes that somebody has
 * changed, or the shown form of a body with a bearer value, are left out by themselves.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { withoutMac } from "../state/authenticity.ts";
import { sha256 } from "../state/digest.ts";
import { type ActivityRow, findActivity, findActivityByFingerprint, listVotes } from "../store/activities.ts";
import { findProofOfBoot } from "../store/boot_proofs.ts";
import { findDisclosures } from "../store/disclosures.ts";
import { findMade, type UnreleasedLeaf } from "../store/leaves.ts";
import type { Store } from "../store/store.ts";
import { findParent } from "../store/sub_organizations.ts";
import { isStampWithheld, type StoredVote } from "./activity_view.ts";

/** Undefined where not even the leaf may be shown: its stamp and its body together would bring a result that is still worth something. */
export async function bodiesOf(
  store: Store,
  { organizationId, boot, number, leaf: marked }: Pick<UnreleasedLeaf, "organizationId" | "boot" | "number" | "leaf">,
): Promise<Uint8Array[] | undefined> {
  const leaf = readLeaf(marked);
  if (leaf === undefined) return undefined;
  const activity = await activityOf(store, organizationId, leaf);
  if (activity !== undefined && isStampWithheld(activity.row, Date.now())) return undefined;
  const found = activity === undefined ? [] : await textsOf(store, activity);
  const made = await findMade(store, organizationId, boot, number);
  const proof = leaf.event === "BOOTED" ? await findProofOfBoot(store, organizationId, boot) : undefined;
  const disclosed = await findDisclosures(store, organizationId, [...digestsIn(leaf)]);
  return namedBy(leaf, [...found, ...(made ? [made] : []), ...(proof ? [proof] : []), ...disclosed.values()]);
}

/** A row that somebody has damaged hides itself, and no other. */
function readLeaf(marked: Uint8Array): Leaf | undefined {
  try {
    return decodeLeaf(withoutMac(marked));
  } catch {
    return undefined;
  }
}

type FoundActivity = { organizationId: string; row: ActivityRow };

/** The activity that a leaf tells of. That of a birth is its creator's. */
async function activityOf(store: Store, organizationId: string, leaf: Leaf): Promise<FoundActivity | undefined> {
  if (leaf.activityType === "") return undefined;
  const owner = leaf.event === "BIRTH" ? await findParent(store, organizationId) : organizationId;
  if (owner === undefined) return undefined;
  const row =
    leaf.event === "BIRTH"
      ? await findActivityByFingerprint(store, owner, toHex(leaf.fingerprint))
      : await findActivity(store, owner, uuidFromBytes(leaf.activityId));
  return row && { organizationId: owner, row };
}

async function textsOf(store: Store, { organizationId, row }: FoundActivity): Promise<Uint8Array[]> {
  const votes = await listVotes(store, organizationId, row.activityId);
  const messages = votes.flatMap((vote) => (JSON.parse(vote) as StoredVote).message ?? []);
  const texts = [...messages, row.result, row.failure].filter((text) => text !== null);
  return [row.body, ...texts.map((text) => Buffer.from(text))];
}

/** Nothing needs no showing: where there is neither result nor failure, the outcome is the digest of that. */
function namedBy(leaf: Leaf, found: readonly Uint8Array[]): Uint8Array[] {
  const named = digestsIn(leaf);
  return found.filter((bytes) => bytes.length > 0 && named.delete(toHex(sha256(bytes))));
}

function digestsIn({ fingerprint, evidence, outside, outcome }: Leaf): Set<string> {
  const tokens = evidence.flatMap(({ content }) => ("tokenDigest" in content.value ? [content.value.tokenDigest] : []));
  const digests = outside.flatMap(({ value }) => (value.kind === "digest" ? [value.value] : []));
  return new Set([fingerprint, outcome, ...evidence.map(({ body }) => body), ...tokens, ...digests].map(toHex));
}

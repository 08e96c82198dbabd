/** Whether a request comes from an address that the IP allowlists of its credential's organization name. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { lookupOf, parseEvidence } from "../../evidence/evidence.ts";
import { type RequestSource, refuseOtherAddresses } from "../../rules/ip_allowlists.ts";
import { type CredentialLookup, isPasskeyLookup } from "../../state/credentials.ts";
import { decodePage, type IpAllowlistsPage } from "../../state/pages.ts";

/**
 * Throws where the address is none of the lists'. `page` is that of the lists; only organizations without a parent have one. A passkey is
 * looked up by its id, which its registrant chooses: it must not pass for a key that has a list.
 */
export function checkSource(page: Uint8Array, lookup: CredentialLookup, source: RequestSource): void {
  const publicKey = lookup.by === "key" && !isPasskeyLookup(lookup) ? lookup.publicKey : undefined;
  refuseOtherAddresses(listsIn(page), publicKey, source);
}

const read = new WeakMap<Uint8Array, IpAllowlistsPage>();

/** Many submits follow on one state and bring the same bytes. */
function listsIn(page: Uint8Array): IpAllowlistsPage {
  let lists = read.get(page);
  if (lists === undefined) {
    lists = decodePage("ipAllowlists", page);
    read.set(page, lists);
  }
  return lists;
}

/** The same for a request whose evidence nobody has verified yet: the credential is what it claims. */
export function claimedSourceCheck(
  { curves }: { curves: Curves },
  { evidence, source }: { evidence: SentEvidence; source?: RequestSource | undefined },
): ((page: Uint8Array) => void) | undefined {
  if (source === undefined) return undefined;
  return (page) => checkSource(page, lookupOf(parseEvidence(curves, evidence)), source);
}

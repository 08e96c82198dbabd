/**
 * Which sub-organization a key belongs to, for clients that know only the parent. Public keys are public, and anyone can add a stranger's
 * to an organization of his own: so only those count where the key is proven (state/proven.ts), and the others only where none does.
 * That a key which is proven nowhere belongs to the only sub-organization that knows it is the gateway's word.
 */
import { Fault } from "@keystead/core/fault.ts";
import { findInSubOrganizations } from "../../store/across.ts";
import type { CallerRow } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";

/** The caller in the one that counts; undefined where no sub-organization knows the key. */
export async function findOwnSubOrganization(
  store: Store,
  parentId: string,
  curve: string,
  publicKey: string,
): Promise<CallerRow | undefined> {
  const [match, ...others] = await findInSubOrganizations(store, parentId, curve, publicKey);
  if (others.length === 0) return match;
  throw new Fault("unauthenticated", "more than one suborg associated with a public key", {
    errorCode: "CREDENTIAL_CONFLICT",
  });
}

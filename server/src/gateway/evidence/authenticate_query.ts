/**
 * Who asks a query. Reads are the gateway's own business: a database writer can lie to readers anyway, and nothing that is
 * decided here lets anyone sign.
 */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { parseStamp, type Stamp, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import type { Caller } from "../../endpoints/define_query.ts";
import { noSuchOrganization } from "../../endpoints/known_faults.ts";
import { expiredKey, unknownKey, unverifiedStamp } from "../../endpoints/stamp_faults.ts";
import { type CallerRow, findCaller, findFormerCaller } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import type { Doubts } from "./doubts.ts";
import { findOwnSubOrganization } from "./own_sub_organization.ts";

export type AuthenticateRoom = {
  store: Store;
  curves: Curves;
  /** The door's; without them nobody is doubted. */
  doubts?: Doubts;
};

/** Where else than in the named organization and its parent: in one sub-organization; or in one that was deleted. */
export type Scope = "named" | "sub-organization" | "former";

type FoundCaller = CallerRow & { credential: NonNullable<CallerRow["credential"]> };

/**
 * The named organization first; then its parent, whose members may read every sub-organization; then, where the endpoint
 * allows it, the key's own sub-organization.
 */
async function resolve(
  store: Store,
  organizationId: string,
  { curve, publicKey }: Stamp,
  scope: Scope,
): Promise<FoundCaller> {
  const find = scope === "former" ? findFormerCaller : findCaller;
  const named = await find(store, organizationId, curve, publicKey);
  if (named === undefined) {
    throw noSuchOrganization();
  }
  if (hasCredential(named)) return named;
  if (named.parentId !== undefined) {
    const parent = await findCaller(store, named.parentId, curve, publicKey);
    if (parent !== undefined && hasCredential(parent)) return parent;
  } else if (scope === "sub-organization") {
    const match = await findOwnSubOrganization(store, organizationId, curve, publicKey);
    if (match !== undefined && hasCredential(match)) return match;
  }
  throw unknownKey(organizationId, named.parentId, publicKey);
}

function hasCredential(row: CallerRow): row is FoundCaller {
  return row.credential !== undefined;
}

export async function authenticateQuery(
  { store, curves, doubts }: AuthenticateRoom,
  organizationId: string,
  header: string,
  body: Uint8Array,
  scope: Scope,
): Promise<Caller> {
  const stamp = parseStamp(curves, header);
  const { publicKey } = stamp;
  const lane = doubts?.has(organizationId, publicKey) === true ? doubts.lane : undefined;
  if (lane !== undefined) await lane.enter(() => false);
  try {
    const found = await resolve(store, organizationId, stamp, scope);
    const { userId, userName, expiresAtMs } = found.credential;
    if (expiresAtMs !== undefined && expiresAtMs <= Date.now()) throw expiredKey(publicKey);
    if (!verifyStamp(curves, stamp, body)) {
      doubts?.note(organizationId, publicKey);
      throw unverifiedStamp();
    }
    doubts?.clear(organizationId, publicKey);
    return { organizationId: found.organizationId, organizationName: found.organizationName, userId, userName };
  } finally {
    lane?.leave(0);
  }
}

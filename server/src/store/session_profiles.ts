/** Session profiles, for readers: those of an organization, or of its parent. */
import { compiled } from "./compiled.ts";
import { entityReader } from "./entity_reader.ts";
import type { Store } from "./store.ts";

export const { find: findSessionProfile, list: listSessionProfiles } = entityReader("sessionProfile");

const parent = compiled("parent_id", (db, organizationId: string) =>
  db.selectFrom("organizations").select("parent_id").where("organization_id", "=", organizationId),
);

/** Whose profiles the sessions of an organization name: its parent's, or its own where it has none. */
export async function profileOwnerOf(store: Store, organizationId: string): Promise<string> {
  const [row] = await parent(store, organizationId);
  return row?.parent_id ?? organizationId;
}

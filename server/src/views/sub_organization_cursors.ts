import { type Page, unknownCursor } from "../fields/pagination.ts";
import type { Store } from "../store/store.ts";
import { findSubOrganization } from "../store/sub_organizations.ts";

/** One that has been deleted is still a place in the order: a client may be in the middle of its pages. */
export async function refuseUnknownCursors(
  store: Store,
  organizationId: string,
  { before, after }: Page,
): Promise<void> {
  for (const cursor of [before, after]) {
    if (cursor !== undefined && (await findSubOrganization(store, organizationId, cursor)) === undefined) {
      throw unknownCursor(cursor);
    }
  }
}

/** The logs by the first organization's own page. */
import { decodePage, type Pages } from "../../state/pages.ts";
import { findFirstOrganization } from "../../store/across.ts";
import { findPage } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";

/** Undefined for a page that nobody can read: somebody has changed it, and the check of that organization's state says so. */
export async function listedLogs(store: Store): Promise<Pages["logs"] | undefined> {
  const first = await findFirstOrganization(store);
  const page = first === undefined ? undefined : await findPage(store, first, "logs");
  if (page === undefined) return new Map();
  try {
    return decodePage("logs", page);
  } catch {
    return undefined;
  }
}

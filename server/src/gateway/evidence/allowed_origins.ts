/** The origins that a query's passkey may be used from, from the pages of its organization and of that one's parent. */
import { allowedOrigins } from "../../rules/allowed_origins.ts";
import type { Store } from "../../store/store.ts";
import { readOrganizationPage } from "../../views/organization_page.ts";

export async function readAllowedOrigins(
  store: Store,
  { organizationId, parentId }: { organizationId: string; parentId?: string },
): Promise<readonly string[] | undefined> {
  const own = await readOrganizationPage(store, organizationId, "settings");
  const parent = parentId === undefined ? undefined : await readOrganizationPage(store, parentId, "settings");
  return allowedOrigins(own, parent);
}

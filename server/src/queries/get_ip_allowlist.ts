import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { ipAllowlist, listedKey } from "../fields/ip_allowlists.ts";
import { Type } from "../fields/schema.ts";
import { listIdOf } from "../rules/ip_allowlists.ts";
import { ipAllowlistView } from "../views/ip_allowlist_view.ts";
import { findOrganizationPage } from "../views/organization_page.ts";

/** Gets the organization's IP allowlist, or that of one API key. Where there is none, it is shown without rules. */
export const getIpAllowlist = defineQuery({
  path: "get_ip_allowlist",
  summary: "Get the IP allowlist of an organization or an API key",
  request: Type.Object({ organizationId, publicKey: listedKey }),
  response: Type.Object({ allowlist: ipAllowlist }),
  async run(store, _caller, { organizationId, publicKey }) {
    const listId = listIdOf(publicKey);
    const lists = await findOrganizationPage(store, organizationId, "ipAllowlists");
    return { allowlist: ipAllowlistView(organizationId, listId, lists.get(listId)) };
  },
});

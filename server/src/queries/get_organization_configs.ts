import { defineQuery } from "../endpoints/define_query.ts";
import { type FeatureValue, features } from "../fields/features.ts";
import { organizationId } from "../fields/ids.ts";
import { quorum } from "../fields/quorum.ts";
import { Type } from "../fields/schema.ts";
import { readOrganizationPage } from "../views/organization_page.ts";

/** Gets the features that are on and the root quorum. */
export const getOrganizationConfigs = defineQuery({
  path: "get_organization_configs",
  summary: "Get the features and the root quorum of an organization",
  request: Type.Object({ organizationId }),
  response: Type.Object({ configs: Type.Object({ features, quorum }) }),
  inSnapshot: true,
  async run(store, _caller, { organizationId }) {
    const settings = await readOrganizationPage(store, organizationId, "settings");
    const { threshold, userIds } = (await readOrganizationPage(store, organizationId, "members")).rootQuorum;
    return { configs: { features: settings.features as FeatureValue[], quorum: { threshold, userIds: [...userIds] } } };
  },
});

import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { type FeatureValue, features } from "../fields/features.ts";
import { ids, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { decodePage, type Pages, type SinglePage } from "../state/pages.ts";
import { findPage } from "../store/organizations.ts";
import type { Store } from "../store/store.ts";

const quorum = Type.Object({
  threshold: Type.Integer({ description: "How many of the users must approve." }),
  userIds: ids,
});

/** Gets the features that are on and the root quorum. */
export const getOrganizationConfigs = defineQuery({
  path: "get_organization_configs",
  summary: "Get the features and the root quorum of an organization",
  request: Type.Object({ organizationId }),
  response: Type.Object({ configs: Type.Object({ features, quorum }) }),
  inSnapshot: true,
  async run(store, _caller, { organizationId }) {
    const settings = await readPage(store, organizationId, "settings");
    const { threshold, userIds } = (await readPage(store, organizationId, "members")).rootQuorum;
    return { configs: { features: settings.features as FeatureValue[], quorum: { threshold, userIds: [...userIds] } } };
  },
});

async function readPage<N extends SinglePage>(store: Store, organizationId: string, name: N): Promise<Pages[N]> {
  const page = await findPage(store, organizationId, name);
  if (page === undefined) throw new Fault("internal", `an organization has no page \`${name}\``);
  return decodePage(name, page);
}

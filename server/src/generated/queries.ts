// Written by `npm run generate` from the endpoint declarations. Do not edit.
import type { AnyQuery } from "../endpoints/define_query.ts";
import { getActivity } from "../queries/get_activity.ts";
import { getApiKey } from "../queries/get_api_key.ts";
import { getApiKeys } from "../queries/get_api_keys.ts";
import { getOrganizationConfigs } from "../queries/get_organization_configs.ts";
import { getUser } from "../queries/get_user.ts";
import { listActivities } from "../queries/list_activities.ts";
import { listSuborgs } from "../queries/list_suborgs.ts";
import { listUserTags } from "../queries/list_user_tags.ts";
import { listUsers } from "../queries/list_users.ts";
import { whoami } from "../queries/whoami.ts";

export const queries = {
  get_activity: getActivity,
  get_api_key: getApiKey,
  get_api_keys: getApiKeys,
  get_organization_configs: getOrganizationConfigs,
  get_user: getUser,
  list_activities: listActivities,
  list_suborgs: listSuborgs,
  list_user_tags: listUserTags,
  list_users: listUsers,
  whoami: whoami,
} as const;

export const queryByPath: ReadonlyMap<string, AnyQuery> = new Map<string, AnyQuery>([
  ["get_activity", getActivity],
  ["get_api_key", getApiKey],
  ["get_api_keys", getApiKeys],
  ["get_organization_configs", getOrganizationConfigs],
  ["get_user", getUser],
  ["list_activities", listActivities],
  ["list_suborgs", listSuborgs],
  ["list_user_tags", listUserTags],
  ["list_users", listUsers],
  ["whoami", whoami],
]);

/** The table: every endpoint has its line. The compiler misses one that is not here, and so does the test. */
import type { activities } from "@keystead/server/generated/activities.ts";
import type { queries } from "@keystead/server/generated/queries.ts";
import { createUsers } from "./create_users.ts";
import { createApiKeys, deleteApiKeys } from "./credentials.ts";
import type { ActivityEntry, QueryEntry } from "./entry.ts";
import { listActivities, listSuborgs } from "./lists.ts";
import {
  removeOrganizationFeature,
  setOrganizationFeature,
  updateOrganizationName,
  updateRootQuorum,
} from "./organization.ts";
import {
  getActivity,
  getApiKey,
  getApiKeys,
  getOrganizationConfigs,
  getUser,
  listUsers,
  listUserTags,
  whoami,
} from "./queries.ts";
import { createSubOrganization, deleteSubOrganization } from "./sub_organizations.ts";
import { createUserTag, deleteUserTags, updateUserTag } from "./tags.ts";
import { deleteUsers, updateUser, updateUserEmail, updateUserName, updateUserPhoneNumber } from "./users.ts";
import { approveActivity, rejectActivity, type VoteEntry } from "./votes.ts";

export const voteTable = {
  approve_activity: approveActivity,
  reject_activity: rejectActivity,
} as const satisfies Record<string, VoteEntry>;

export const activityTable = {
  create_api_keys: createApiKeys,
  create_sub_organization: createSubOrganization,
  create_user_tag: createUserTag,
  create_users: createUsers,
  delete_api_keys: deleteApiKeys,
  delete_sub_organization: deleteSubOrganization,
  delete_user_tags: deleteUserTags,
  delete_users: deleteUsers,
  remove_organization_feature: removeOrganizationFeature,
  set_organization_feature: setOrganizationFeature,
  update_organization_name: updateOrganizationName,
  update_root_quorum: updateRootQuorum,
  update_user: updateUser,
  update_user_email: updateUserEmail,
  update_user_name: updateUserName,
  update_user_phone_number: updateUserPhoneNumber,
  update_user_tag: updateUserTag,
} as const satisfies Record<Exclude<keyof typeof activities, keyof typeof voteTable>, ActivityEntry>;

export const queryTable = {
  get_activity: getActivity,
  get_api_key: getApiKey,
  get_api_keys: getApiKeys,
  get_organization_configs: getOrganizationConfigs,
  get_user: getUser,
  list_activities: listActivities,
  list_suborgs: listSuborgs,
  list_user_tags: listUserTags,
  list_users: listUsers,
  whoami,
} as const satisfies Record<keyof typeof queries, QueryEntry>;

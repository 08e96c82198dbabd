// Written by `npm run generate` from the endpoint declarations. Do not edit.
import { approveActivity } from "../activities/approve_activity.ts";
import { createApiKeys } from "../activities/create_api_keys.ts";
import { createSubOrganization } from "../activities/create_sub_organization.ts";
import { createUserTag } from "../activities/create_user_tag.ts";
import { createUsers } from "../activities/create_users.ts";
import { deleteApiKeys } from "../activities/delete_api_keys.ts";
import { deleteSubOrganization } from "../activities/delete_sub_organization.ts";
import { deleteUserTags } from "../activities/delete_user_tags.ts";
import { deleteUsers } from "../activities/delete_users.ts";
import { rejectActivity } from "../activities/reject_activity.ts";
import { removeOrganizationFeature } from "../activities/remove_organization_feature.ts";
import { setOrganizationFeature } from "../activities/set_organization_feature.ts";
import { updateOrganizationName } from "../activities/update_organization_name.ts";
import { updateRootQuorum } from "../activities/update_root_quorum.ts";
import { updateUser } from "../activities/update_user.ts";
import { updateUserEmail } from "../activities/update_user_email.ts";
import { updateUserName } from "../activities/update_user_name.ts";
import { updateUserPhoneNumber } from "../activities/update_user_phone_number.ts";
import { updateUserTag } from "../activities/update_user_tag.ts";
import { type ActivityForm, type AnyActivity, formsOf } from "../endpoints/define_activity.ts";

export const activities = {
  approve_activity: approveActivity,
  create_api_keys: createApiKeys,
  create_sub_organization: createSubOrganization,
  create_user_tag: createUserTag,
  create_users: createUsers,
  delete_api_keys: deleteApiKeys,
  delete_sub_organization: deleteSubOrganization,
  delete_user_tags: deleteUserTags,
  delete_users: deleteUsers,
  reject_activity: rejectActivity,
  remove_organization_feature: removeOrganizationFeature,
  set_organization_feature: setOrganizationFeature,
  update_organization_name: updateOrganizationName,
  update_root_quorum: updateRootQuorum,
  update_user: updateUser,
  update_user_email: updateUserEmail,
  update_user_name: updateUserName,
  update_user_phone_number: updateUserPhoneNumber,
  update_user_tag: updateUserTag,
} as const;

/** By the `type` of the stamped body, which is what decides; the path only routes. */
export const activityForms: ReadonlyMap<string, ActivityForm> = new Map(
  (Object.values(activities) as AnyActivity[]).flatMap(formsOf).map((form) => [form.type, form]),
);

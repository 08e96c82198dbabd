// Written by `npm run generate` from the endpoint declarations. Do not edit.
import { createUserTag } from "../activities/create_user_tag.ts";
import { deleteUserTags } from "../activities/delete_user_tags.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";

export const activities = {
  create_user_tag: createUserTag,
  delete_user_tags: deleteUserTags,
} as const;

/** By the `type` of the stamped body, which is what decides; the path only routes. */
export const activityByType: ReadonlyMap<string, AnyActivity> = new Map<string, AnyActivity>([
  ["ACTIVITY_TYPE_CREATE_USER_TAG", createUserTag],
  ["ACTIVITY_TYPE_DELETE_USER_TAGS", deleteUserTags],
]);

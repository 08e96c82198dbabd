// Written by `npm run generate` from the endpoint declarations. Do not edit.
// The checks narrow by `typeof` and `in` on values of no known type, which strict TypeScript does not follow.
// @ts-nocheck
import { Guard } from "typebox/guard";

const createUserTag = (() => {
  const External = [/^[^\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]*$/u];
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && (("userTagName" in value && "userIds" in value) && ((typeof value.userTagName === "string" && (((value.userTagName.length >= 2 || (value.userTagName.length >= 1 && Guard.CodePointCount(value.userTagName) >= 1)) && (value.userTagName.length <= 255 || (value.userTagName.length <= 510 && Guard.CodePointCount(value.userTagName) <= 255))) && External[0].test(value.userTagName))) && (Array.isArray(value.userIds) && (value.userIds.every((unique_0, index) => ((typeof unique_0 === "string" && ((unique_0.length >= 2 || (unique_0.length >= 1 && Guard.CodePointCount(unique_0) >= 1)) && (unique_0.length <= 128 || (unique_0.length <= 256 && Guard.CodePointCount(unique_0) <= 128)))))) && value.userIds.length <= 1000))))));
  return (value) => check_0(value);
})();

const deleteUserTags = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("userTagIds" in value && (Array.isArray(value.userTagIds) && ((value.userTagIds.every((unique_0, index) => ((typeof unique_0 === "string" && ((unique_0.length >= 2 || (unique_0.length >= 1 && Guard.CodePointCount(unique_0) >= 1)) && (unique_0.length <= 128 || (unique_0.length <= 256 && Guard.CodePointCount(unique_0) <= 128)))))) && value.userTagIds.length >= 1) && value.userTagIds.length <= 1000)))));
  return (value) => check_0(value);
})();

/** Whether a value is a well-formed `parameters`, by path. It has no prototype, so no path finds anything inherited. */
export const activityValidators: Readonly<Record<string, (value: unknown) => boolean>> = {
  __proto__: null,
  create_user_tag: createUserTag,
  delete_user_tags: deleteUserTags,
};

import { Fault } from "@keystead/core/fault.ts";
import type { User, UserTag } from "./entities.ts";
import type { MembersPage } from "./pages.ts";

export function getUser(members: MembersPage, organizationId: string, userId: string): User {
  const user = members.users.get(userId);
  if (user === undefined) {
    throw new Fault("not_found", `unable to find user ${userId} in organization ${organizationId}`);
  }
  return user;
}

export function getUserTag(members: MembersPage, organizationId: string, tagId: string): UserTag {
  const tag = members.userTags.get(tagId);
  if (tag === undefined) {
    throw new Fault("not_found", `unable to find user tag ${tagId} in organization ${organizationId}`);
  }
  return tag;
}

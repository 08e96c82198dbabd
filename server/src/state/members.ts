import { Fault } from "@keystead/core/fault.ts";
import type { RootQuorum, User, UserTag } from "./entities.ts";

/** Users with their credentials and tags, and the quorum above them: everything that says who may act. */
export type MembersPage = {
  readonly users: ReadonlyMap<string, User>;
  readonly userTags: ReadonlyMap<string, UserTag>;
  readonly rootQuorum: RootQuorum;
  /** Read from a page of format 1, while the settings that say which keys are proven are not at hand. Never written. */
  readonly isUnmarked?: true;
};

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

import { Fault } from "@keystead/core/fault.ts";
import type { User } from "./entities.ts";
import type { MembersPage } from "./pages.ts";

export function getUser(members: MembersPage, organizationId: string, userId: string): User {
  const user = members.users.get(userId);
  if (user === undefined)
    throw new Fault("not_found", `unable to find user ${userId} in organization ${organizationId}`);
  return user;
}

import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";

/** Tells a caller who it is. A caller that knows only its parent organization is found in its sub-organization. */
export const whoami = defineQuery({
  path: "whoami",
  summary: "Identify the calling user and its organization",
  request: Type.Object({ organizationId }),
  response: Type.Object({
    organizationId,
    organizationName: name("Human-readable name of the organization."),
    userId: id,
    username: name("Human-readable name of the user."),
  }),
  findsSubOrganization: true,
  takesAttested: true,
  openToRecoveryKeys: true,
  run: (_store, caller) => ({
    organizationId: caller.organizationId,
    organizationName: caller.organizationName,
    userId: caller.userId,
    username: caller.userName,
  }),
});

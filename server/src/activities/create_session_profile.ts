import { costOfExpressions } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { sessionProfileParams } from "../fields/session_profiles.ts";
import { newSessionProfile } from "../rules/session_profiles.ts";
import { put } from "../state/entities.ts";

/** Creates a session profile, for this organization and its sub-organizations. It is never changed and never deleted. */
export const createSessionProfile = defineActivity({
  path: "create_session_profile",
  type: "ACTIVITY_TYPE_CREATE_SESSION_PROFILE",
  intentKey: "createSessionProfileIntent",
  resultKey: "createSessionProfileResult",
  summary: "Create a session profile, which bounds what sessions may do",
  params: sessionProfileParams,
  result: Type.Object({ sessionProfileId: id }),
  cost: ({ scope }) => costOfExpressions([{ condition: scope }]),
  state: ({ sessionProfiles }) => sessionProfiles,
  run(page, params, context) {
    const profile = newSessionProfile(page, params, context);
    return { changes: [put("sessionProfile", profile)], result: { sessionProfileId: profile.sessionProfileId } };
  },
});

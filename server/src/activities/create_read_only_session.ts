import { makeReadOnlySession } from "@keystead/core/crypto/read_only_session.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { Type } from "../fields/schema.ts";
import { sessionOwner } from "../fields/sessions.ts";
import { getUser } from "../state/members.ts";

const lifeSeconds = 3_600;

/** Makes a value that reads as the caller for an hour. Nothing of it is state: a million of them leave the organization as it is. */
export const createReadOnlySession = defineActivity({
  path: "create_read_only_session",
  type: "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION",
  intentKey: "createReadOnlySessionIntent",
  resultKey: "createReadOnlySessionResult",
  summary: "Get a value that reads as the caller for an hour",
  params: Type.Object({}),
  result: Type.Object({
    ...sessionOwner,
    session: Type.String({
      description: "Value of the X-Session header; empty once it is over, and to everybody else.",
    }),
    sessionExpiry: Type.String({ description: "When it ends, in seconds since 1970, as a decimal string." }),
  }),
  findsSubOrganization: true,
  ownCredentialOf: (_, requesterId) => requesterId,
  cost: () => unitCosts.sign.CURVE_P256,
  sealed: true,
  pure: true,
  bearer: { field: "session", endsAtMs: ({ sessionExpiry }) => Number(sessionExpiry) * 1000 },
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, _, { organizationId, userId, keys, nowMs, bodyMs }) {
    const { userName } = getUser(members, organizationId, userId);
    // From the body's own time: however often and late the same bytes are prepared, it ends at the same moment. Only of a body from
    // the future, which may be five minutes ahead, it ends an hour from now.
    const expiresAtSeconds = Math.floor(Math.min(bodyMs, nowMs) / 1000) + lifeSeconds;
    const result = {
      organizationId,
      organizationName: settings.organizationName,
      userId,
      username: userName,
      session: makeReadOnlySession(keys.notarizer, { organizationId, userId, expiresAtSeconds }),
      sessionExpiry: String(expiresAtSeconds),
    };
    return { changes: [], result };
  },
});

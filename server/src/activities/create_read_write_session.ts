import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { targetPublicKey } from "../fields/bundles.ts";
import { optional } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { invalidateExisting, sessionKeyName, sessionOwner, sessionSeconds } from "../fields/sessions.ts";
import { checkKeyParams, withBundledKey, withoutKey } from "../rules/bundled_keys.ts";
import { hasContact } from "../state/contacts.ts";
import { put, type User } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** The first version names the user by e-mail address. It travels under a symbol, so that no other body can carry one by accident. */
const namedEmail = Symbol("email");

type Named = { [namedEmail]?: string };

const v1 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION",
  intentKey: "createReadWriteSessionIntent",
  resultKey: "createReadWriteSessionResult",
  params: Type.Object({
    targetPublicKey,
    email: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "E-mail address of the user, who must be the caller.",
    }),
    apiKeyName: sessionKeyName,
    expirationSeconds: sessionSeconds,
  }),
  translate: ({ targetPublicKey, email, apiKeyName, expirationSeconds }) => ({
    targetPublicKey,
    ...(apiKeyName !== undefined && { apiKeyName }),
    ...(expirationSeconds !== undefined && { expirationSeconds }),
    [namedEmail]: email,
  }),
  answer: withoutKey,
});

/** Makes a session whose private key is sent to the client, encrypted to a key of the client's. */
export const createReadWriteSession = defineActivity({
  path: "create_read_write_session",
  type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2",
  intentKey: "createReadWriteSessionIntentV2",
  resultKey: "createReadWriteSessionResultV2",
  summary: "Get a session whose key is sent encrypted to a key of the client's",
  params: Type.Object({
    targetPublicKey,
    userId: optional(id),
    apiKeyName: sessionKeyName,
    expirationSeconds: sessionSeconds,
    invalidateExisting,
  }),
  result: Type.Object({
    ...sessionOwner,
    apiKeyId: id,
    credentialBundle: Type.String({ description: "The session's private key, encrypted to the target public key." }),
  }),
  versions: [v1],
  answer: withoutKey,
  findsSubOrganization: true,
  makesSession: () => ({ sessionProfileId: undefined }),
  ownActOf: ({ userId }, requesterId) => userId ?? requesterId,
  ownCredentialOf: ({ userId }, requesterId) => userId ?? requesterId,
  cost: () => unitCosts.keyPair.CURVE_P256 + unitCosts.bundle,
  sealed: true,
  state: ({ members, settings, importTargets }) => ({ members, settings, importTargets }),
  run(state, params, context) {
    const { members, settings } = state;
    const { organizationId } = context;
    const owner = getUser(members, organizationId, params.userId ?? context.userId);
    checkEmail(owner, params);
    const checked = checkKeyParams(state, params, context);
    const { user, ...made } = withBundledKey(owner, kind, params, checked, context);
    const { userId, userName: username } = user;
    const { organizationName } = settings;
    return { changes: [put("user", user)], result: { organizationId, organizationName, userId, username, ...made } };
  },
});

const kind = { type: "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256", name: "Read Write Session" } as const;

/** It names the caller, or nobody: another user's session is refused to everybody. */
function checkEmail(owner: User, params: object): void {
  const email = (params as Named)[namedEmail];
  if (email === undefined || hasContact(owner, { kind: "email", contact: email })) return;
  throw new Fault(
    "permission_denied",
    "request not authorized: `email` must be that of the user who makes this request",
    {
      errorCode: "REQUEST_NOT_AUTHORIZED",
    },
  );
}

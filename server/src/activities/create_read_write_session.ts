import { makeCredentialBundle } from "@keystead/core/crypto/bundles.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { targetPublicKey } from "../fields/bundles.ts";
import { optional } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { invalidateExisting, sessionKeyName, sessionOwner, sessionSeconds } from "../fields/sessions.ts";
import { parseTarget } from "../rules/exports.ts";
import { sessionExpiryMs, sessionName, withSession } from "../rules/sessions.ts";
import { sha256 } from "../state/digest.ts";
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

/** The key of the session is drawn at random: its public half is kept with the result, and shown by get_api_keys. */
function withoutKey({ publicKey: _, ...result }: Record<string, unknown>): Record<string, unknown> {
  return result;
}

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
    const { keys, nowMs, organizationId } = context;
    const user = getUser(members, organizationId, params.userId ?? context.userId);
    checkEmail(user, params);
    const target = parseTarget(state, context, params.targetPublicKey);
    const expiresAtMs = sessionExpiryMs(params, context);
    const { publicKey: point, privateKey } = keys.newSessionKey();
    try {
      const publicKey = toHex(point);
      const session = {
        // Prepared twice, it is two keys, and two ids.
        apiKeyId: context.newId(toHex(sha256(point))),
        apiKeyName: params.apiKeyName ?? sessionName("Read Write Session", nowMs),
        publicKey,
        type: "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256",
        expiresAtMs,
        // It is nobody else's: it was made here.
        proven: true,
      } as const;
      const { userId, userName } = user;
      const result = {
        organizationId,
        organizationName: settings.organizationName,
        userId,
        username: userName,
        apiKeyId: session.apiKeyId,
        credentialBundle: makeCredentialBundle(keys.hpke, target, privateKey),
        publicKey,
      };
      return { changes: [put("user", withSession(user, session, params, context))], result };
    } finally {
      privateKey.fill(0);
    }
  },
});

/** It names the caller, or nobody: another user's session is refused to everybody. */
function checkEmail({ userEmail }: User, params: object): void {
  const email = (params as Named)[namedEmail];
  if (email === undefined || email.toLowerCase() === userEmail?.toLowerCase()) return;
  throw new Fault(
    "permission_denied",
    "request not authorized: `email` must be that of the user who makes this request",
    {
      errorCode: "REQUEST_NOT_AUTHORIZED",
    },
  );
}

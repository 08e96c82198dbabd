import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { knownFields } from "../fields/known_fields.ts";
import { emailAuthParams, emailAuthParamsV1 } from "../fields/mailed_keys.ts";
import { type Static, Type } from "../fields/schema.ts";
import { withoutKey } from "../rules/bundled_keys.ts";
import { mailedKeyState, mailKey, withAppName } from "../rules/mailed_keys.ts";
import { put } from "../state/entities.ts";

/** Both older versions have the same parameters. */
const older = {
  resultKey: "emailAuthResult",
  params: emailAuthParamsV1,
  translate: (params: Static<typeof emailAuthParamsV1>) => withAppName(knownFields(emailAuthParamsV1, params)),
  answer: withoutKey,
};
const v2 = defineVersion({ type: "ACTIVITY_TYPE_EMAIL_AUTH_V2", intentKey: "emailAuthIntentV2", ...older });
const v1 = defineVersion({ type: "ACTIVITY_TYPE_EMAIL_AUTH", intentKey: "emailAuthIntent", ...older });

const kind = {
  type: "CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256",
  name: "Email Auth",
  feature: "FEATURE_NAME_EMAIL_AUTH",
  purpose: "login",
} as const;

/** Mails a session to the user with this address. Who asked for it, and whoever reads the mail, needs the client's key to open it. */
export const emailAuth = defineActivity({
  path: "email_auth",
  type: "ACTIVITY_TYPE_EMAIL_AUTH_V3",
  intentKey: "emailAuthIntentV3",
  resultKey: "emailAuthResult",
  summary: "Mail a user a session whose key is encrypted to a key of the client's",
  params: emailAuthParams,
  result: Type.Object({ userId: id, apiKeyId: id }),
  versions: [v2, v1],
  answer: withoutKey,
  openToParent: true,
  neverWaits: true,
  makesSession: () => ({ sessionProfileId: undefined }),
  cost: () => unitCosts.keyPair.CURVE_P256 + unitCosts.bundle,
  state: mailedKeyState,
  run(state, params, context) {
    const { user, apiKeyId, publicKey, message } = mailKey(state, kind, params, context);
    const result = { userId: user.userId, apiKeyId, publicKey };
    return { changes: [put("user", user)], messages: [message], result };
  },
});

import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { knownFields } from "../fields/known_fields.ts";
import { emailRecoveryParams, emailRecoveryParamsV1 } from "../fields/mailed_keys.ts";
import { Type } from "../fields/schema.ts";
import { mailedKeyState, mailKey, withAppName } from "../rules/mailed_keys.ts";
import { recoveryKeyType } from "../state/credentials.ts";
import { put } from "../state/entities.ts";

/** What else is kept of it, `get_api_keys` shows. */
function answer({ userId }: Record<string, unknown>): Record<string, unknown> {
  return { userId };
}

const v1 = defineVersion({
  type: "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY",
  intentKey: "initUserEmailRecoveryIntent",
  resultKey: "initUserEmailRecoveryResult",
  params: emailRecoveryParamsV1,
  translate: (params) => withAppName(knownFields(emailRecoveryParamsV1, params)),
  answer,
});

const kind = {
  type: recoveryKeyType,
  name: "Email Recovery",
  feature: "FEATURE_NAME_EMAIL_RECOVERY",
  purpose: "recovery",
} as const;

/** Mails a key to the user with this address that can register one passkey for that user, and nothing else. */
export const initUserEmailRecovery = defineActivity({
  path: "init_user_email_recovery",
  type: "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2",
  intentKey: "initUserEmailRecoveryIntentV2",
  resultKey: "initUserEmailRecoveryResult",
  summary: "Mail a user a key that can register a new passkey",
  params: emailRecoveryParams,
  result: Type.Object({ userId: id }),
  versions: [v1],
  answer,
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

import { otpTypes } from "@keystead/core/otp/otp_types.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { invalidCode } from "../endpoints/known_faults.ts";
import { targetPublicKey } from "../fields/bundles.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { invalidateExisting, sessionKeyName, sessionSeconds } from "../fields/sessions.ts";
import { checkKeyParams, withBundledKey, withoutKey } from "../rules/bundled_keys.ts";
import { refuseUnlessCodesSignIn } from "../rules/features.ts";
import { checkSignInCode, userOfCode } from "../rules/one_time_codes.ts";
import { hasContact } from "../state/contacts.ts";
import { put } from "../state/entities.ts";

const kind = { type: "CREDENTIAL_TYPE_OTP_AUTH_KEY_P256", name: "OTP Auth" } as const;

/** Signs a user in with the code of `init_otp_auth`. Whatever can be told without comparing the code costs no attempt. */
export const otpAuth = defineActivity({
  path: "otp_auth",
  type: "ACTIVITY_TYPE_OTP_AUTH",
  intentKey: "otpAuthIntent",
  resultKey: "otpAuthResult",
  summary: "Sign in with a one-time code and get a session whose key is sent encrypted",
  params: Type.Object({
    otpId: id,
    otpCode: Type.String({ maxLength: 256, description: "The code as it was typed." }),
    targetPublicKey,
    apiKeyName: sessionKeyName,
    expirationSeconds: sessionSeconds,
    invalidateExisting,
  }),
  result: Type.Object({
    userId: id,
    apiKeyId: id,
    credentialBundle: Type.String({ description: "The session's private key, encrypted to the target public key." }),
  }),
  answer: ({ keyEndsAtMs: _, ...result }) => withoutKey(result),
  bearer: { field: "credentialBundle", endsAtMs: ({ keyEndsAtMs }) => Number(keyEndsAtMs), onlyForSameBytes: true },
  bearerParams: { otpCode: "oneTimeCode" },
  openToParent: true,
  neverWaits: true,
  spendsCode: true,
  sealed: true,
  makesSession: () => ({ sessionProfileId: undefined }),
  cost: () => unitCosts.keyPair.CURVE_P256 + unitCosts.bundle,
  records: ({ otpId }) => [{ by: "id", kind: "otpCode", id: otpId }],
  state: ({ members, settings, importTargets }) => ({ members, settings, importTargets }),
  run(state, params, context) {
    const { members, settings } = state;
    const { codes, organizationId } = context;
    const record = codes.find(params.otpId);
    if (record === undefined) throw invalidCode();
    const owner = members.users.get(userOfCode(record));
    const contact = { kind: otpTypes[record.otpType].contact, contact: record.contact };
    refuseUnlessCodesSignIn(settings, contact.kind, organizationId);
    // Whoever lost the contact, or was deleted, is not signed in by what was sent there.
    if (owner === undefined || !hasContact(owner, contact)) {
      throw invalidCode("the user no longer has this contact");
    }
    const checked = checkKeyParams(state, params, context);
    checkSignInCode(context, record, params.otpCode);
    const { user, ...made } = withBundledKey(owner, kind, params, checked, context);
    const result = { userId: user.userId, ...made, keyEndsAtMs: checked.expiresAtMs };
    return { changes: [put("user", user)], spentCode: record, result };
  },
});

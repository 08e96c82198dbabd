import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { initOtpParams } from "../fields/one_time_codes.ts";
import { Type } from "../fields/schema.ts";
import { startSentCode } from "../rules/code_messages.ts";
import { parseCodeRequest, targetBundleOf } from "../rules/one_time_codes.ts";
import { isAnsweredInThePlain } from "../rules/plain_answers.ts";
import { initOtpVersions } from "./init_otp.v2.ts";

/**
 * Sends a one-time code to a contact. Whether anybody has this contact is looked up nowhere, so nothing about the answer can tell. It
 * leaves the organization as it is: a million users may ask one parent for codes at once.
 */
export const initOtp = defineActivity({
  path: "init_otp",
  type: "ACTIVITY_TYPE_INIT_OTP_V3",
  intentKey: "initOtpIntentV3",
  resultKey: "initOtpResultV2",
  summary: "Send a one-time code to an e-mail address or phone number",
  params: initOtpParams,
  result: Type.Object({
    otpId: id,
    otpEncryptionTargetBundle: Type.String({
      description: "Signed bundle with the key that answers are encrypted to.",
    }),
  }),
  versions: initOtpVersions,
  cost: () => unitCosts.keyPair.CURVE_P256 + unitCosts.sign.CURVE_P256,
  pure: true,
  neverWaits: true,
  state: ({ settings }) => settings,
  run({ organizationName }, params, context) {
    const isEncrypted = !isAnsweredInThePlain(params);
    // The first version may name no application: its mail is in the organization's name.
    const appName = params.appName || organizationName;
    const how = { isEncrypted, appName, organizationName };
    const { record, message } = startSentCode(context, parseCodeRequest(params), params, how);
    const otpEncryptionTargetBundle = isEncrypted ? targetBundleOf(context.codes, context.keys.hpke, record) : "";
    const result = { otpId: record.otpId, otpEncryptionTargetBundle };
    return { changes: [], codes: [record], messages: [message], result };
  },
});

/** Older forms of `init_otp`: before answers were encrypted (V2), and before applications had to have a name (V1). */
import { defineVersion } from "../endpoints/define_activity.ts";
import { knownFields } from "../fields/known_fields.ts";
import { type InitOtpParams, initOtpParams, initOtpParamsV1 } from "../fields/one_time_codes.ts";
import { answeredInThePlain } from "../rules/plain_answers.ts";

const answer = ({ otpId }: Record<string, unknown>) => ({ otpId });

const v2 = defineVersion({
  type: "ACTIVITY_TYPE_INIT_OTP_V2",
  intentKey: "initOtpIntentV2",
  resultKey: "initOtpResult",
  params: initOtpParams,
  translate: (params): InitOtpParams => answeredInThePlain(knownFields(initOtpParams, params)),
  answer,
});

const v1 = defineVersion({
  type: "ACTIVITY_TYPE_INIT_OTP",
  intentKey: "initOtpIntent",
  resultKey: "initOtpResult",
  params: initOtpParamsV1,
  translate(params): InitOtpParams {
    const appName = params.emailCustomization?.appName ?? "";
    return answeredInThePlain({ ...knownFields(initOtpParamsV1, params), appName });
  },
  answer,
});

export const initOtpVersions = [v2, v1];

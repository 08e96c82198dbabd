/** The older form of `verify_otp`: the code as it was typed, for clients that have no key to encrypt it to. */
import { defineVersion } from "../endpoints/define_activity.ts";
import { verifyOtpParamsV1 } from "../fields/one_time_codes.ts";
import { withPlainAnswer } from "../rules/plain_answers.ts";

export const verifyOtpV1 = defineVersion({
  type: "ACTIVITY_TYPE_VERIFY_OTP",
  intentKey: "verifyOtpIntent",
  resultKey: "verifyOtpResult",
  params: verifyOtpParamsV1,
  translate: ({ otpId, otpCode, publicKey, expirationSeconds }) =>
    withPlainAnswer({ otpId, encryptedOtpBundle: "", expirationSeconds }, { otpCode, publicKey }),
  answer: ({ verificationToken }) => ({ verificationToken }),
});

import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { invalidCode } from "../endpoints/known_faults.ts";
import { verifyOtpParams } from "../fields/one_time_codes.ts";
import { Type } from "../fields/schema.ts";
import { answerCode, tokenEndMs } from "../rules/one_time_codes.ts";
import { findPlainAnswer } from "../rules/plain_answers.ts";
import { verifyOtpV1 } from "./verify_otp.v1.ts";

/** Gives a verification token for the right answer to a code. Whatever is wrong with an answer, it is told in the same words. */
export const verifyOtp = defineActivity({
  path: "verify_otp",
  type: "ACTIVITY_TYPE_VERIFY_OTP_V2",
  intentKey: "verifyOtpIntentV2",
  resultKey: "verifyOtpResult",
  summary: "Answer a one-time code and get a verification token",
  params: verifyOtpParams,
  result: Type.Object({
    verificationToken: Type.String({
      description: "Signed token that says which contact was verified; empty once it is over, and to everybody else.",
    }),
  }),
  versions: [verifyOtpV1],
  cost: () => unitCosts.bundle + unitCosts.sign.CURVE_P256,
  sealed: true,
  pure: true,
  spendsCode: true,
  neverWaits: true,
  // The token's end is kept beside it, because rows show neither the token nor what is in it.
  bearer: {
    field: "verificationToken",
    endsAtMs: ({ tokenEndsAtMs }) => Number(tokenEndsAtMs),
    onlyForSameBytes: true,
  },
  bearerParams: { otpCode: "oneTimeCode", encryptedOtpBundle: "oneTimeCode" },
  answer: ({ verificationToken }) => ({ verificationToken }),
  state: () => undefined,
  records: ({ otpId }) => [{ by: "id", kind: "otpCode", id: otpId }],
  run(_, params, { codes, keys, verdicts, curves, nowMs }) {
    const record = codes.find(params.otpId);
    if (record === undefined) throw invalidCode();
    const { encryptedOtpBundle, expirationSeconds } = params;
    const answer = findPlainAnswer(params) ?? { kind: "encrypted", encryptedOtpBundle };
    const { allowsPlainAnswers } = codes;
    const context = { access: codes, hpke: keys.hpke, curves, nowMs, allowsPlainAnswers, verdicts };
    const verificationToken = answerCode(context, record, answer, expirationSeconds);
    const result = { verificationToken, tokenEndsAtMs: tokenEndMs(nowMs, expirationSeconds) };
    return { changes: [], spentCode: record, result };
  },
});

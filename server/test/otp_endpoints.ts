/** Endpoints that do what `init_otp` and `verify_otp` are to do, for tests of what is below them. Importing this file declares them. */
import { type ActivityForm, type AnyActivity, defineActivity, formsOf } from "../src/endpoints/define_activity.ts";
import { invalidCode } from "../src/endpoints/known_faults.ts";
import { Type } from "../src/fields/schema.ts";
import { activityForms } from "../src/generated/activities.ts";
import { activityValidators } from "../src/generated/activity_validators.ts";
import { answerCode, parseCodeRequest, startCode } from "../src/rules/one_time_codes.ts";

export const testInitOtp = defineActivity({
  path: "test_init_otp",
  type: "ACTIVITY_TYPE_TEST_INIT_OTP",
  intentKey: "testInitOtpIntent",
  resultKey: "testInitOtpResult",
  summary: "Only in tests",
  params: Type.Object({ contact: Type.String() }),
  result: Type.Object({ otpId: Type.String() }),
  pure: true,
  neverWaits: true,
  state: () => undefined,
  run(_, { contact }, { codes, organizationId, newId }) {
    const request = parseCodeRequest({ otpType: "OTP_TYPE_EMAIL", contact, otpLength: 6, alphanumeric: false });
    const { record, code } = startCode(codes, request, { organizationId, otpId: newId(), isEncrypted: false });
    code.fill(0);
    return { changes: [], codes: [record], result: { otpId: record.otpId } };
  },
});

export const testVerifyOtp = defineActivity({
  path: "test_verify_otp",
  type: "ACTIVITY_TYPE_TEST_VERIFY_OTP",
  intentKey: "testVerifyOtpIntent",
  resultKey: "testVerifyOtpResult",
  summary: "Only in tests",
  params: Type.Object({ otpId: Type.String(), otpCode: Type.String() }),
  result: Type.Object({ verificationToken: Type.String() }),
  pure: true,
  sealed: true,
  spendsCode: true,
  neverWaits: true,
  state: () => undefined,
  records: ({ otpId }) => [{ by: "id", kind: "otpCode", id: otpId }],
  run(_, { otpId, otpCode }, { codes, keys, curves, nowMs }) {
    const record = codes.find(otpId);
    if (record === undefined) throw invalidCode();
    const context = { access: codes, hpke: keys.hpke, curves, nowMs, allowsPlainAnswers: false };
    const verificationToken = answerCode(context, record, { kind: "plain", otpCode });
    return { changes: [], spentCode: record, result: { verificationToken } };
  },
});

for (const activity of [testInitOtp, testVerifyOtp] as unknown as AnyActivity[]) {
  for (const form of formsOf(activity)) (activityForms as Map<string, ActivityForm>).set(form.type, form);
  (activityValidators as Record<string, (value: unknown) => boolean>)[activity.type] = () => true;
}

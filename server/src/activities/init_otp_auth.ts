import { otpTypes } from "@keystead/core/otp/otp_types.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { knownFields } from "../fields/known_fields.ts";
import { initOtpParams, initOtpParamsV1 } from "../fields/one_time_codes.ts";
import { Type } from "../fields/schema.ts";
import { startSentCode } from "../rules/code_messages.ts";
import { refuseUnlessCodesSignIn } from "../rules/features.ts";
import { parseCodeRequest } from "../rules/one_time_codes.ts";
import { getUserByContact } from "../rules/user_contacts.ts";

/** Before codes could be given a lifetime, and before they could be given a form. */
const { expirationSeconds: _lifetime, ...fieldsV2 } = initOtpParamsV1.properties;
const { otpLength: _length, alphanumeric: _alphabet, ...fieldsV1 } = fieldsV2;
const paramsV2 = Type.Object(fieldsV2);
const paramsV1 = Type.Object(fieldsV1);

type Named = { emailCustomization?: { appName?: string | null } | null };

/** In older versions the name of the application is one of the mail's details. */
function named<P extends Named>(params: P): P & { appName: string } {
  return { ...params, appName: params.emailCustomization?.appName ?? "" };
}

const v2 = defineVersion({
  type: "ACTIVITY_TYPE_INIT_OTP_AUTH_V2",
  intentKey: "initOtpAuthIntentV2",
  resultKey: "initOtpAuthResultV2",
  params: paramsV2,
  translate: (params) => named(knownFields(paramsV2, params)),
});

const v1 = defineVersion({
  type: "ACTIVITY_TYPE_INIT_OTP_AUTH",
  intentKey: "initOtpAuthIntent",
  resultKey: "initOtpAuthResult",
  params: paramsV1,
  translate: (params) => named(knownFields(paramsV1, params)),
});

/** Sends a code to a contact of one user, which signs that user in by `otp_auth`. It changes no state. */
export const initOtpAuth = defineActivity({
  path: "init_otp_auth",
  type: "ACTIVITY_TYPE_INIT_OTP_AUTH_V3",
  intentKey: "initOtpAuthIntentV3",
  resultKey: "initOtpAuthResultV2",
  summary: "Send a user a one-time code to sign in with by otp_auth",
  params: initOtpParams,
  result: Type.Object({ otpId: id }),
  versions: [v2, v1],
  openToParent: true,
  neverWaits: true,
  pure: true,
  cost: () => unitCosts.entry,
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, params, context) {
    const { organizationId } = context;
    const request = parseCodeRequest(params);
    const kind = otpTypes[request.otpType].contact;
    refuseUnlessCodesSignIn(settings, kind, organizationId);
    const { user, contact } = getUserByContact(members, organizationId, kind, request.contact);
    const { organizationName } = settings;
    const appName = params.appName || organizationName;
    const how = { isEncrypted: false, userId: user.userId, appName, organizationName };
    const { record, message } = startSentCode(context, { ...request, contact }, params, how);
    return { changes: [], codes: [record], messages: [message], result: { otpId: record.otpId } };
  },
});

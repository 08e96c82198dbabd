/** What the activities that start and answer one-time codes share on the wire. */
import { optional } from "./credentials.ts";
import { id } from "./ids.ts";
import { appName, emailCustomization, emailCustomizationV1, mailSender, smsCustomization } from "./messages.ts";
import { type Static, Type } from "./schema.ts";

/** Bounded; what it must be is checked with an error of its own. */
const seconds = (description: string) => optional(Type.String({ maxLength: 100, description }));

/** What every version asks for. */
const codeFields = {
  otpType: Type.Enum(["OTP_TYPE_EMAIL", "OTP_TYPE_SMS", "OTP_TYPE_WHATSAPP"], {
    description: "By mail or by text message. WhatsApp is not offered.",
  }),
  contact: Type.String({ maxLength: 320, description: "E-mail address, or phone number in E.164 form." }),
  otpLength: optional(Type.Integer({ description: "How many characters the code has, 6 to 9; 9 when left out." })),
  alphanumeric: optional(Type.Boolean({ description: "False for digits alone." })),
  expirationSeconds: seconds(
    "How long the code lasts, in seconds, as a decimal string: 300 when left out, at most 600.",
  ),
  userIdentifier: optional(
    Type.String({ maxLength: 1_024, description: "Whom the client asks for: three codes within three minutes." }),
  ),
  smsCustomization,
  ...mailSender,
};

export const initOtpParams = Type.Object({ ...codeFields, appName, emailCustomization });
export type InitOtpParams = Static<typeof initOtpParams>;

export const initOtpParamsV1 = Type.Object({ ...codeFields, emailCustomization: emailCustomizationV1 });

const tokenSeconds = seconds(
  "How long the verification token lasts, in seconds, as a decimal string: 3600 when left out, at most 86400.",
);

export const verifyOtpParams = Type.Object({
  otpId: id,
  encryptedOtpBundle: Type.String({
    maxLength: 10_000,
    description: "The code and a public key of the client, encrypted to the key in `otpEncryptionTargetBundle`.",
  }),
  expirationSeconds: tokenSeconds,
});

export const verifyOtpParamsV1 = Type.Object({
  otpId: id,
  otpCode: Type.String({ maxLength: 256, description: "The code as it was typed." }),
  expirationSeconds: tokenSeconds,
  publicKey: optional(
    Type.String({ maxLength: 200, description: "Public key of the client on P-256, which the token is bound to." }),
  ),
});

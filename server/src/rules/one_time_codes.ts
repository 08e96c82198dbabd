/** What `init_otp` and `verify_otp` decide: what code a request asks for, and whether an answer is the right one. */
import { normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import type { PointCompression } from "@keystead/core/crypto/curves.ts";
import type { HpkePrimitives } from "@keystead/core/crypto/hpke.ts";
import { Fault } from "@keystead/core/fault.ts";
import { openEncryptedAttempt } from "@keystead/core/otp/encrypted_attempt.ts";
import { type CodeForm, codeLengths, isCode } from "@keystead/core/otp/one_time_code.ts";
import { isOtpType, type OtpType } from "@keystead/core/otp/otp_types.ts";
import { makeOtpTargetBundle } from "@keystead/core/otp/target_key.ts";
import { makeVerificationToken } from "@keystead/core/otp/verification_token.ts";
import type { CodeAccess } from "../endpoints/code_access.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { HpkeKey } from "../endpoints/key_access.ts";
import { invalidCode } from "../endpoints/known_faults.ts";
import type { VerdictAccess } from "../endpoints/verdict_access.ts";
import type { OtpCodeRecord } from "../state/otp_code_record.ts";
import { parseEmail, parsePhoneNumber } from "./contacts.ts";

/** The parameters of all versions of `init_otp` that say what code it is. */
export type InitOtpParams = {
  otpType: string;
  contact: string;
  otpLength?: number | null | undefined;
  alphanumeric?: boolean | null | undefined;
  expirationSeconds?: string | null | undefined;
  userIdentifier?: string | null | undefined;
};

export type CodeRequest = {
  otpType: OtpType;
  contact: string;
  form: CodeForm;
  lifeMs: number;
  userIdentifier: string | undefined;
};

const codeSeconds = { usual: 300, most: 600 } as const;
const tokenSeconds = { usual: 3_600, most: 86_400 } as const;

/** No code and no verification token lasts longer. */
export const longestCodeMs = codeSeconds.most * 1000;
export const longestTokenMs = tokenSeconds.most * 1000;

/** Reads what was asked for; throws with what is wrong. It looks nothing up: whether anybody has the contact shows nowhere. */
export function parseCodeRequest(params: InitOtpParams): CodeRequest {
  const { otpType } = params;
  if (otpType === "OTP_TYPE_WHATSAPP") {
    throw new Fault("unimplemented", "OTP_TYPE_WHATSAPP is not offered; use OTP_TYPE_EMAIL or OTP_TYPE_SMS");
  }
  if (!isOtpType(otpType)) {
    throw new Fault("invalid_argument", `invalid otpType: \`${otpType}\` is neither OTP_TYPE_EMAIL nor OTP_TYPE_SMS`);
  }
  const contact = otpType === "OTP_TYPE_EMAIL" ? parseEmail(params.contact) : parsePhoneNumber(params.contact);
  if (contact === undefined) throw new Fault("invalid_argument", "missing parameter: contact");
  const length = params.otpLength ?? codeLengths.most;
  if (!Number.isInteger(length) || length < codeLengths.least || length > codeLengths.most) {
    throw new Fault("invalid_argument", "invalid otpLength: a code has 6 to 9 characters");
  }
  const seconds = parseSeconds(params.expirationSeconds, codeSeconds, "a code");
  return {
    otpType,
    contact,
    form: { length, alphabet: params.alphanumeric === false ? "numeric" : "alphanumeric" },
    lifeMs: seconds * 1000,
    userIdentifier: params.userIdentifier || undefined,
  };
}

/** A decimal string, as the wire has all of them. */
function parseSeconds(text: string | null | undefined, { usual, most }: { usual: number; most: number }, what: string) {
  if (text === undefined || text === null) return usual;
  const seconds = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= most) return seconds;
  throw new Fault(
    "invalid_argument",
    `invalid expirationSeconds: ${what} lasts a whole number of seconds from 1 to ${most}`,
  );
}

/** When a verification token ends that is asked for now. */
export function tokenEndMs(nowMs: number, expirationSeconds: string | null | undefined): number {
  return nowMs + parseSeconds(expirationSeconds, tokenSeconds, "a verification token") * 1000;
}

/** What a new code is: its record, and the code itself, which the caller puts into a message and wipes. */
export type StartedCode = { record: OtpCodeRecord; code: Uint8Array };

/** The same body starts the same code, whenever it comes. */
export function startCode(
  access: CodeAccess,
  { otpType, contact, form, lifeMs, userIdentifier }: CodeRequest,
  {
    organizationId,
    otpId,
    isEncrypted,
    userId,
  }: Pick<OtpCodeRecord, "organizationId" | "otpId" | "isEncrypted" | "userId">,
): StartedCode {
  const times = access.start({ otpId, otpType, contact, lifeMs, userIdentifier });
  const owner = userId === undefined ? {} : { userId };
  const record = {
    kind: "otpCode",
    organizationId,
    otpId,
    otpType,
    contact,
    form,
    ...owner,
    isEncrypted,
    ...times,
  } as const;
  return { record, code: access.codeOf(record) };
}

/** The `otpEncryptionTargetBundle` of a code. */
export function targetBundleOf(
  access: CodeAccess,
  { publicKey }: Pick<HpkePrimitives<HpkeKey>, "publicKey">,
  { organizationId, otpId }: Pick<OtpCodeRecord, "organizationId" | "otpId">,
): string {
  return makeOtpTargetBundle(access.otpSigner, {
    organizationId,
    targetPublicKey: publicKey(access.targetKeyOf(otpId)),
  });
}

/** An answer to a code: V1 brings it as it was typed, V2 encrypted. */
export type OtpAnswer =
  | { kind: "plain"; otpCode: string; publicKey?: string | null | undefined }
  | { kind: "encrypted"; encryptedOtpBundle: string };

export type AnswerContext = {
  access: CodeAccess;
  hpke: HpkePrimitives<HpkeKey>;
  curves: PointCompression;
  nowMs: number;
  /** Whether a code whose client has a target bundle may be answered in the plain. */
  allowsPlainAnswers: boolean;
  verdicts: VerdictAccess;
};

/**
 * The verification token for a right answer. The memory has noted the attempt before anything is compared; a wrong answer, one that does
 * not open and one of a wrong form are refused alike.
 */
export function answerCode(
  { access, hpke, curves, nowMs, allowsPlainAnswers, verdicts }: AnswerContext,
  record: OtpCodeRecord,
  answer: OtpAnswer,
  expirationSeconds?: string | null,
): string {
  const expiresAtMs = tokenEndMs(nowMs, expirationSeconds);
  const boundKey = answer.kind === "plain" ? plainKey(curves, answer.publicKey) : undefined;
  if (record.userId !== undefined) throw answeredBy("INIT_OTP_AUTH", "OTP_AUTH");
  checkForm(record, answer, allowsPlainAnswers);
  access.noteAttempt(record);
  const publicKey = verdicts.judge({
    subject: "answer",
    ask() {
      const attempt =
        answer.kind === "plain"
          ? { code: answer.otpCode, publicKey: boundKey }
          : openEncryptedAttempt(hpke, access.targetKeyOf(record.otpId), answer.encryptedOtpBundle);
      const isRight = isCodeOf(access, record, attempt?.code);
      if (attempt === undefined || !isRight) throw invalidCode();
      return attempt.publicKey;
    },
    standIn: () => boundKey,
  });
  return makeVerificationToken(access.otpSigner, {
    tokenId: access.tokenIdOf(record.otpId),
    expiresAtMs,
    organizationId: record.organizationId,
    verificationType: record.otpType,
    contact: record.contact,
    publicKey,
  });
}

/** A wrong answer costs as much time as a right one. */
function isCodeOf(access: CodeAccess, record: OtpCodeRecord, typed = ""): boolean {
  const code = access.codeOf(record);
  const isRight = isCode(code, typed);
  code.fill(0);
  return isRight;
}

/** The user whom a code signs in. Throws for a code that proves a contact: it was not sent for that. */
export function userOfCode({ userId }: OtpCodeRecord): string {
  if (userId === undefined) throw answeredBy("INIT_OTP", "VERIFY_OTP");
  return userId;
}

/** Whoever passes here has typed the code that signs in the record's user. The memory has noted the attempt before. */
export function checkSignInCode(
  { codes, verdicts }: Pick<ActivityContext, "codes" | "verdicts">,
  record: OtpCodeRecord,
  typed: string,
): void {
  userOfCode(record);
  codes.noteAttempt(record);
  if (!verdicts.confirm("answer", () => isCodeOf(codes, record, typed))) throw invalidCode();
}

/** No attempt is counted: whoever mixes the two up has not guessed. */
function answeredBy(start: string, answer: string): Fault {
  return new Fault(
    "invalid_argument",
    `this code was started with ACTIVITY_TYPE_${start}: answer it with ACTIVITY_TYPE_${answer}`,
  );
}

function plainKey(curves: PointCompression, publicKey: string | null | undefined): string | undefined {
  if (publicKey === undefined || publicKey === null || publicKey === "") return undefined;
  return normalisePublicKey(curves, "API_KEY_CURVE_P256", publicKey);
}

/** Attempts in two forms must not be mixed: who reads the plain one on its way could use it first. */
function checkForm({ isEncrypted }: OtpCodeRecord, { kind }: OtpAnswer, allowsPlainAnswers: boolean): void {
  if (kind === "plain" && isEncrypted && !allowsPlainAnswers) {
    throw new Fault(
      "invalid_argument",
      "this code was started with ACTIVITY_TYPE_INIT_OTP_V3: answer it with ACTIVITY_TYPE_VERIFY_OTP_V2, or have the operator set " +
        "KEYSTEAD_OTP_PLAINTEXT=allow",
    );
  }
  if (kind === "encrypted" && !isEncrypted) {
    throw new Fault(
      "invalid_argument",
      "this code has no target bundle: answer it with ACTIVITY_TYPE_VERIFY_OTP, or start it with ACTIVITY_TYPE_INIT_OTP_V3",
    );
  }
}

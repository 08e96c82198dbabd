/** Messages that bring a code or a bundle to its reader, made of the parameters that all activities which send any share. */
import { Fault } from "@keystead/core/fault.ts";
import { otpTypes } from "@keystead/core/otp/otp_types.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { MessageParams } from "../fields/messages.ts";
import { checkMessage, type OutgoingMessage } from "../outbox/message.ts";
import type { OtpCodeRecord } from "../state/otp_code_record.ts";
import { refuseUnlessOn } from "./features.ts";
import { type CodeRequest, startCode } from "./one_time_codes.ts";

/** A message that lacks only what it is sent for. */
export type MessageDraft = Omit<OutgoingMessage, "code" | "expiresAtMs">;

type MessageFacts = Pick<OutgoingMessage, "channel" | "to" | "purpose" | "appName" | "organizationName">;

/**
 * Refuses what could not be sent. It is asked before anything is started for the message: a request that is refused for its words must
 * not count as a code.
 */
export function draftMessage(facts: MessageFacts, params: MessageParams): MessageDraft {
  checkTemplateVariables(params.emailCustomization?.templateVariables);
  const draft = { ...facts, ...(facts.channel === "email" ? mailParts(params) : smsParts(params)) };
  checkMessage({ ...draft, code: "0", expiresAtMs: 0 });
  return draft;
}

export type SenderContext = Pick<ActivityContext, "parentId" | "isByParent" | "parentSettings">;

/**
 * Anyone may sign up and then be root of a sub-organization, so its own users are strangers to the people they have written to: they need
 * the parent's leave, and say nothing in their own words but the application's name.
 */
export function checkSender({ parentId, isByParent, parentSettings }: SenderContext, params: MessageParams): void {
  if (parentId === undefined || isByParent) return;
  const settings = parentSettings();
  if (settings !== undefined) refuseUnlessOn(settings, "FEATURE_NAME_SUB_ORGANIZATION_CODES", parentId);
  const { emailCustomization, smsCustomization, sendFromEmailAddress, sendFromEmailSenderName, replyToEmailAddress } =
    params;
  const own = {
    ...named("emailCustomization", emailCustomization ?? {}),
    ...named("smsCustomization", smsCustomization ?? {}),
    ...{ sendFromEmailAddress, sendFromEmailSenderName, replyToEmailAddress },
  };
  const [used] = Object.entries(own).find(([name, value]) => Boolean(value) && !name.endsWith(".appName")) ?? [];
  if (used === undefined) return;
  throw new Fault(
    "invalid_argument",
    `invalid ${used}: users of a sub-organization choose only the appName of a message; send it with a key of the parent`,
  );
}

function named(part: string, fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${part}.${name}`, value]));
}

function mailParts(params: MessageParams): Partial<MessageDraft> {
  const { emailCustomization, sendFromEmailAddress, sendFromEmailSenderName, replyToEmailAddress } = params;
  const fromAddress = sendFromEmailAddress || undefined;
  return {
    fromAddress,
    // A name without an address would show the operator's own address under it.
    fromName: fromAddress && (sendFromEmailSenderName || undefined),
    replyTo: replyToEmailAddress || undefined,
    logoUrl: emailCustomization?.logoUrl || undefined,
    linkTemplate: emailCustomization?.magicLinkTemplate || undefined,
  };
}

function smsParts({ smsCustomization }: MessageParams): Partial<MessageDraft> {
  return { smsTemplate: smsCustomization?.template || undefined };
}

/** Nothing uses them yet. A client that writes them wrong should learn of it before something does. */
function checkTemplateVariables(text: string | null | undefined): void {
  if (!text) return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new Fault("invalid_argument", "invalid templateVariables: must be a JSON object, as text");
}

/** A code that was started, and the message that brings it. */
export type SentCode = { record: OtpCodeRecord; message: OutgoingMessage };

export type SentCodeContext = SenderContext & Pick<ActivityContext, "codes" | "organizationId" | "nowMs" | "newId">;

/** `userId`: whom the code signs in, where it is more than a proof of the contact. */
type StartedFor = Pick<OtpCodeRecord, "isEncrypted" | "userId"> & { appName: string; organizationName: string };

/** Starts a code for a contact. The same body starts the same one, whenever it comes. */
export function startSentCode(
  context: SentCodeContext,
  request: CodeRequest,
  params: MessageParams,
  { isEncrypted, userId, ...names }: StartedFor,
): SentCode {
  const { codes, organizationId, nowMs, newId } = context;
  checkSender(context, params);
  const channel = otpTypes[request.otpType].contact === "email" ? "email" : "sms";
  const draft = draftMessage({ channel, to: request.contact, purpose: "code", ...names }, params);
  const started = { organizationId, otpId: newId(), isEncrypted, ...(userId !== undefined && { userId }) };
  const { record, code } = startCode(codes, request, started);
  try {
    if (record.endsAtMs <= nowMs) {
      throw new Fault("invalid_argument", "the code that this request started has expired; send a new request");
    }
    return { record, message: { ...draft, code: Buffer.from(code).toString("latin1"), expiresAtMs: record.endsAtMs } };
  } finally {
    code.fill(0);
  }
}

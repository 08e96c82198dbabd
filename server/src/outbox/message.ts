/**
 * A message that an activity asks to be sent. The signer seals these facts; the courier makes text of them. So the words of a mail are
 * the courier's, the facts in it are the signer's, and the gateway between them can neither read nor write any of it.
 */
import { Fault } from "@keystead/core/fault.ts";

/** How a message reaches its reader. */
export const channels = ["email", "sms"] as const;
export type Channel = (typeof channels)[number];

/** What the reader does with the code: types it, signs in with it, or recovers an account with it. */
export const messagePurposes = ["code", "login", "recovery"] as const;
export type MessagePurpose = (typeof messagePurposes)[number];

export type OutgoingMessage = {
  channel: Channel;
  /** An e-mail address, or a phone number in E.164 form. */
  to: string;
  purpose: MessagePurpose;
  /** The code or the credential bundle. */
  code: string;
  /** Of the application that the reader signs in to. */
  appName: string;
  organizationName: string;
  /** From then on it is not sent. */
  expiresAtMs: number;
  /** Sent from this address, if the operator has configured it; else from the first configured one. */
  fromAddress?: string | undefined;
  /** The name beside `fromAddress`. */
  fromName?: string | undefined;
  replyTo?: string | undefined;
  /** An https address of a picture for the mail's head. */
  logoUrl?: string | undefined;
  /** A link in which `%s` becomes the code. */
  linkTemplate?: string | undefined;
  /** A text in which `{{.OtpCode}}` becomes the code, instead of our own. */
  smsTemplate?: string | undefined;
};

/** The longest time between a message's making and its end. The courier remembers what it sent for as long. */
export const longestLifeMs = 24 * 3_600_000;

const maxLengths = {
  to: 254,
  code: 2_048,
  appName: 256,
  organizationName: 256,
  fromAddress: 254,
  fromName: 256,
  replyTo: 254,
  logoUrl: 2_048,
  linkTemplate: 2_048,
  smsTemplate: 1_024,
} as const satisfies { [F in keyof OutgoingMessage]?: number };

/** Refusals name fields as activities have them. */
const wireNames: { readonly [F in keyof typeof maxLengths]?: string } = {
  fromAddress: "sendFromEmailAddress",
  fromName: "sendFromEmailSenderName",
  replyTo: "replyToEmailAddress",
  linkTemplate: "magicLinkTemplate",
  smsTemplate: "smsCustomization.template",
};

/** Line ends above all: in a header they would begin another header. And what turns the direction of the text around it. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
const unsafeButLineFeed = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/**
 * What may stand in a mail's header and envelope as one address. Whether it is a sensible one is for `rules/contacts.ts`: this keeps one
 * address from being read as two, or as something else. The library lower-cases domains, which would make an ASCII letter of some others.
 */
const address = /^[^\s\p{Cc}\p{Cf}@"(),:;<>[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$/u;
const phoneNumber = /^\+[1-9][0-9]{6,14}$/;

/** Why a message cannot be sent whoever delivers it; undefined for one that can. Never quotes it. */
export function flawOf(message: OutgoingMessage): string | undefined {
  for (const field of Object.keys(maxLengths) as (keyof typeof maxLengths)[]) {
    const value = message[field];
    if (value === undefined) continue;
    const name = wireNames[field] ?? field;
    if (value.length > maxLengths[field]) return `${name} is longer than ${maxLengths[field]} characters`;
    if ((field === "smsTemplate" ? unsafeButLineFeed : unsafe).test(value)) return `${name} has control characters`;
  }
  const { channel, to, code, appName, fromAddress, replyTo, logoUrl, linkTemplate, smsTemplate } = message;
  if (!(channel === "email" ? address : phoneNumber).test(to)) return "the recipient is not one address";
  if (fromAddress !== undefined && !address.test(fromAddress)) return "the sender is not one address";
  if (replyTo !== undefined && !address.test(replyTo)) return "the address for replies is not one address";
  if (code === "" || appName === "") return "it has no code or no application name";
  if (logoUrl !== undefined && !isUrl(logoUrl, (protocol) => protocol === "https:")) return "the logo needs https";
  if (linkTemplate !== undefined && !isLinkTemplate(linkTemplate))
    return "magicLinkTemplate is no address with %s in it";
  if (smsTemplate !== undefined && !smsTemplate.includes("{{.OtpCode}}"))
    return "smsCustomization.template has no {{.OtpCode}}";
  return undefined;
}

/** Refuses what `flawOf` objects to. */
export function checkMessage(message: OutgoingMessage): void {
  const flaw = flawOf(message);
  if (flaw !== undefined) throw new Fault("invalid_argument", `the message cannot be sent: ${flaw}`);
}

/** Applications have schemes of their own; these run or show what the address itself contains. */
const refusedSchemes = ["javascript:", "data:", "vbscript:", "file:", "blob:", "about:"];

function isLinkTemplate(template: string): boolean {
  if (!template.includes("%s")) return false;
  // A code in the host or the scheme would make it another address for each code.
  const [before = ""] = template.split("%s");
  return (
    /^[a-z][a-z0-9+.-]*:\/\/[^/?#%\\]+[/?#]/i.test(before) &&
    isUrl(fillLink(template, "0"), (scheme) => !refusedSchemes.includes(scheme))
  );
}

/** The link with the code in place of every `%s`. */
export function fillLink(template: string, code: string): string {
  return template.split("%s").join(encodeURIComponent(code));
}

function isUrl(text: string, accepts: (protocol: string) => boolean): boolean {
  const url = URL.parse(text);
  return url !== null && accepts(url.protocol);
}

/** What `update_auth_proxy_config` makes of a configuration: what is left out stays, and what could not work is refused. */
import { Fault } from "@keystead/core/fault.ts";
import { codeLengths } from "@keystead/core/otp/one_time_code.ts";
import type { Limits } from "../endpoints/limits.ts";
import type { AuthProxyConfigParams } from "../fields/auth_proxy.ts";
import {
  type AuthMethod,
  type AuthProxySettings,
  authMethods,
  type SocialProvider,
  socialProviders,
} from "../state/entities.ts";
import { clientAt, linkingClients } from "./auth_proxy.ts";
import { draftMessage } from "./code_messages.ts";
import { parseEmail } from "./contacts.ts";
import { longestCodeMs, longestTokenMs } from "./one_time_codes.ts";

/** What the configuration is checked against. */
export type SettingsContext = {
  limits: Pick<Limits, "maxSessionSeconds">;
  hasCaptcha: boolean;
  organizationName: string;
  linkingIssuers: ReadonlySet<string>;
};

export function changedProxySettings(
  before: AuthProxySettings,
  params: AuthProxyConfigParams,
  context: SettingsContext,
): AuthProxySettings {
  const { maxSessionSeconds } = context.limits;
  const kit = params.walletKitSettings;
  const within = (field: keyof AuthProxyConfigParams & keyof AuthProxySettings, least: number, most: number) =>
    numberWithin(field, params[field] as number | null | undefined, before[field] as number, least, most);
  const settings: AuthProxySettings = {
    allowedOrigins: params.allowedOrigins == null ? before.allowedOrigins : origins(params.allowedOrigins),
    allowedAuthMethods:
      params.allowedAuthMethods == null
        ? before.allowedAuthMethods
        : words<AuthMethod>("allowedAuthMethods", params.allowedAuthMethods, authMethods),
    ...textsOf(before, params),
    enabledSocialProviders:
      kit?.enabledSocialProviders == null
        ? before.enabledSocialProviders
        : words<SocialProvider>("enabledSocialProviders", kit.enabledSocialProviders, socialProviders),
    oauthClientIds: kit?.oauthClientIds == null ? before.oauthClientIds : clientIds(kit.oauthClientIds),
    otpExpirationSeconds: within("otpExpirationSeconds", 1, longestCodeMs / 1000),
    verificationTokenExpirationSeconds: within("verificationTokenExpirationSeconds", 1, longestTokenMs / 1000),
    sessionExpirationSeconds: within("sessionExpirationSeconds", 1, maxSessionSeconds),
    otpAlphanumeric: params.otpAlphanumeric ?? before.otpAlphanumeric,
    otpLength: within("otpLength", codeLengths.least, codeLengths.most),
    verificationTokenRequiredForGetAccountPii:
      params.verificationTokenRequiredForGetAccountPii ?? before.verificationTokenRequiredForGetAccountPii,
    socialLinkingClientIds:
      params.socialLinkingClientIds == null
        ? before.socialLinkingClientIds
        : linkingEntries(params.socialLinkingClientIds, context.linkingIssuers),
    captchaEnabled: params.captchaEnabled ?? before.captchaEnabled,
  };
  if (settings.captchaEnabled && !context.hasCaptcha) {
    throw new Fault(
      "failed_precondition",
      "captchaEnabled needs a captcha provider: the operator sets KEYSTEAD_CAPTCHA",
    );
  }
  checkMessages(settings, context.organizationName);
  return settings;
}

/** Texts of the configuration. An empty one takes away what was there. */
function textsOf(before: AuthProxySettings, params: AuthProxyConfigParams): Partial<AuthProxySettings> {
  const { emailCustomizationParams: mail, smsCustomizationParams: sms, walletKitSettings: kit } = params;
  const texts = {
    sendFromEmailAddress: params.sendFromEmailAddress ?? before.sendFromEmailAddress,
    sendFromEmailSenderName: params.sendFromEmailSenderName ?? before.sendFromEmailSenderName,
    replyToEmailAddress: params.replyToEmailAddress ?? before.replyToEmailAddress,
    emailAuthTemplateId: params.emailAuthTemplateId ?? before.emailAuthTemplateId,
    otpTemplateId: params.otpTemplateId ?? before.otpTemplateId,
    smsTemplate: sms == null ? before.smsTemplate : (sms.template ?? ""),
    oauthRedirectUrl: kit?.oauthRedirectUrl ?? before.oauthRedirectUrl,
  };
  parseEmail(texts.sendFromEmailAddress);
  parseEmail(texts.replyToEmailAddress);
  if (texts.oauthRedirectUrl && !isWebAddress(texts.oauthRedirectUrl)) {
    throw new Fault("invalid_argument", `invalid oauthRedirectUrl: \`${texts.oauthRedirectUrl}\` is no address`);
  }
  const customization = mail == null ? before.emailCustomization : withoutEmpty(mail);
  const hasMail = customization !== undefined && Object.keys(customization).length > 0;
  return { ...withoutEmpty(texts), ...(hasMail && { emailCustomization: customization }) };
}

function withoutEmpty<T extends object>(texts: T): { [F in keyof T]?: string } {
  const given = Object.entries(texts).filter(([, text]) => typeof text === "string" && text !== "");
  return Object.fromEntries(given) as { [F in keyof T]?: string };
}

/** As browsers write them, and as applications do that are no pages. Only so can they ever match. */
const origin = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::[0-9]{1,5})?$/;

function origins(list: readonly string[]): string[] {
  for (const each of list) {
    if (each === "*" || origin.test(each)) continue;
    throw new Fault(
      "invalid_argument",
      `invalid allowedOrigins: \`${each}\` is no origin like https://app.example.com, nor * for all of them`,
    );
  }
  return [...new Set(list)];
}

function words<T extends string>(field: string, list: readonly string[], known: readonly T[]): T[] {
  return [...new Set(list)].map((word) => {
    const found = known.find((each) => each === word);
    if (found !== undefined) return found;
    throw new Fault("invalid_argument", `invalid ${field}: \`${word}\` is none of ${known.join(", ")}`);
  });
}

function clientIds(ids: Readonly<Record<string, string | null>>): AuthProxySettings["oauthClientIds"] {
  const names = words<SocialProvider>("oauthClientIds", Object.keys(ids), socialProviders);
  return Object.fromEntries(names.flatMap((name) => (ids[name] ? [[name, ids[name]]] : [])));
}

/** With several linking issuers a client id alone says nothing. Without any it links no account, and may stand for when there is one. */
function linkingEntries(entries: readonly string[], linkingIssuers: ReadonlySet<string>): readonly string[] {
  const wanting = entries.filter(
    (entry) => linkingClients({ socialLinkingClientIds: [entry] }, linkingIssuers).length === 0,
  );
  const [first] = wanting;
  if (first === undefined || linkingIssuers.size === 0) return entries;
  const [issuer = ""] = linkingIssuers;
  throw new Fault(
    "invalid_argument",
    `invalid socialLinkingClientIds: \`${first}\` does not say at which issuer: write it like \`${clientAt({ issuer, audience: first })}\``,
  );
}

function numberWithin(
  field: string,
  value: number | null | undefined,
  before: number,
  least: number,
  most: number,
): number {
  if (value === undefined || value === null) return before;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Fault("invalid_argument", `invalid ${field}: a whole number from ${least} to ${most}`);
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["https:", "http:"].includes(url.protocol);
}

/** A message that could not be sent would be refused to each person who asks for a code, who can do nothing about it. */
function checkMessages(settings: AuthProxySettings, organizationName: string): void {
  const { emailCustomization, smsTemplate, sendFromEmailAddress, sendFromEmailSenderName, replyToEmailAddress } =
    settings;
  const { appName = organizationName, ...mail } = emailCustomization ?? {};
  const names = { purpose: "code", appName, organizationName } as const;
  const sender = { sendFromEmailAddress, sendFromEmailSenderName, replyToEmailAddress };
  draftMessage(
    { channel: "email", to: "user@example.com", ...names },
    { emailCustomization: mail, ...definedOf(sender) },
  );
  const sms = smsTemplate === undefined ? {} : { smsCustomization: { template: smsTemplate } };
  draftMessage({ channel: "sms", to: "+15551234567", ...names }, sms);
}

function definedOf(texts: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}

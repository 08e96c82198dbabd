/** How messages leave, and what may be fetched. The launcher has read the settings and found them right. */
import { type CaptchaSettings, readCaptcha } from "./captcha/captcha_settings.ts";
import { isLoopbackHost } from "./fetch/outgoing_url.ts";
import { type ProviderTable, readProviders } from "./oauth2/providers.ts";

export type MailSender = { name: string; address: string };

export type MailSettings = {
  host: string;
  port: number;
  /** TLS from the first byte; else STARTTLS, which is required unless the server is on this machine. */
  isTls: boolean;
  isLoopback: boolean;
  auth: { user: string; pass: string } | undefined;
  /** The addresses that mail may come from; the first is the default. */
  senders: readonly [MailSender, ...MailSender[]];
};

export type SmsSettings = { url: URL; token: string | undefined };

export type FetchSettings = {
  /** `loopback`: fetches from this machine are allowed, http too. */
  egress: "loopback" | undefined;
  /** The only issuers of identity tokens that are asked; undefined: any. */
  issuers: ReadonlySet<string> | undefined;
};

export type CourierSettings = {
  fetching: FetchSettings;
  /** The OAuth 2.0 providers that codes are exchanged at. */
  providers: ProviderTable;
  /** The provider that captchas of the auth proxy are checked at. */
  captcha: CaptchaSettings | undefined;
  mail: MailSettings | undefined;
  sms: SmsSettings | undefined;
  /** Where messages are written while there are settings for neither. */
  outboxFolder: string;
  /** For how many days they stay there. */
  contactDays: number;
};

export function readCourierSettings(env: NodeJS.ProcessEnv): CourierSettings {
  const egress = env.KEYSTEAD_DEV_EGRESS === "loopback" ? "loopback" : undefined;
  return {
    fetching: { egress, issuers: readIssuers(env.KEYSTEAD_OIDC_ISSUERS) },
    providers: readProviders(env.KEYSTEAD_OAUTH2_PROVIDERS),
    captcha: readCaptcha(env.KEYSTEAD_CAPTCHA),
    mail: env.SMTP_URL ? readMail(env.SMTP_URL, env.KEYSTEAD_MAIL_FROM ?? "") : undefined,
    sms: env.KEYSTEAD_SMS_URL ? readSms(env.KEYSTEAD_SMS_URL, env.KEYSTEAD_SMS_TOKEN, egress) : undefined,
    outboxFolder: env.KEYSTEAD_OUTBOX_FOLDER ?? "./data/outbox",
    contactDays: Number(env.KEYSTEAD_CONTACT_DAYS || 30),
  };
}

function readIssuers(text: string | undefined): ReadonlySet<string> | undefined {
  return text ? new Set(text.split(",").map((issuer) => issuer.trim())) : undefined;
}

function readMail(smtpUrl: string, from: string): MailSettings {
  const url = new URL(smtpUrl);
  const isTls = url.protocol === "smtps:";
  const [first, ...others] = from.split(",").map(readSender);
  if (first === undefined) throw new Error("KEYSTEAD_MAIL_FROM is missing");
  const [user, pass] = [url.username, url.password].map(decodeURIComponent);
  return {
    host: bareHost(url.hostname),
    port: url.port === "" ? (isTls ? 465 : 587) : Number(url.port),
    isTls,
    isLoopback: isLoopbackHost(url.hostname),
    auth: user ? { user, pass: pass ?? "" } : undefined,
    senders: [first, ...others],
  };
}

/** `address`, or `Name <address>`. */
function readSender(text: string): MailSender {
  const [, name = "", address = text.trim()] = /^\s*([^<>]*?)\s*<([^<>]*)>\s*$/.exec(text) ?? [];
  return { name, address };
}

function readSms(text: string, token: string | undefined, egress: string | undefined): SmsSettings {
  const url = new URL(text);
  const isAllowed = url.protocol === "https:" || (egress === "loopback" && isLoopbackHost(url.hostname));
  if (!isAllowed) throw new Error("KEYSTEAD_SMS_URL must begin with https://");
  return { url, token: token || undefined };
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

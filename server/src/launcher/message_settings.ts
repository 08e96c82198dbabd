/**
 * Checks the settings of mail and text messages. Only the courier gets them, and it starts when a message is to be sent: a mistake must
 * show at the start of the server, not with the first user who waits for a code. No value is repeated; most hold a password.
 */
import { allowsLoopback, isLoopbackHost } from "./fetch_settings.ts";
import { Refusal } from "./refusal.ts";

type Environment = Record<string, string | undefined>;

export function checkMessageSettings(env: Environment): void {
  const { SMTP_URL: smtp, KEYSTEAD_MAIL_FROM: from, KEYSTEAD_SMS_URL: sms, KEYSTEAD_SMS_TOKEN: token } = env;
  const mayBeHttp = allowsLoopback(env);
  if (smtp && !hasScheme(smtp, ["smtp:", "smtps:"])) {
    throw new Refusal("SMTP_URL must be like smtp://user:password@host:587, or smtps://… for TLS from the start", 2);
  }
  if (smtp && !from) throw new Refusal("SMTP_URL needs KEYSTEAD_MAIL_FROM: the address that mail is sent from", 2);
  if (from && !from.split(",").every(isSender)) {
    throw new Refusal(
      "KEYSTEAD_MAIL_FROM must be addresses like `Example <no-reply@example.com>`, separated by commas; the first is the default",
      2,
    );
  }
  if (sms && !isSmsUrl(sms, mayBeHttp)) {
    throw new Refusal(
      "KEYSTEAD_SMS_URL must begin with https:// (http:// only for this machine, under KEYSTEAD_DEV_EGRESS=loopback) " +
        "and have no user name in it",
      2,
    );
  }
  if (token && !/^[\x21-\x7e]{1,4096}$/.test(token)) {
    throw new Refusal("KEYSTEAD_SMS_TOKEN must be one word of visible ASCII characters", 2);
  }
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  const url = URL.parse(text);
  return url !== null && schemes.includes(url.protocol) && url.hostname !== "";
}

/** `address`, or `Name <address>`. */
function isSender(text: string): boolean {
  const [, name = "", bracketed] = /^\s*([^<>]*?)\s*<([^<>]*)>\s*$/.exec(text) ?? [];
  return !/[\p{Cc}"]/u.test(name) && /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/.test(bracketed ?? text.trim());
}

function isSmsUrl(text: string, mayBeHttp: boolean): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && mayBeHttp && isLoopbackHost(url.hostname));
}

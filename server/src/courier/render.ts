/** The words of messages. Everything that comes from an activity is escaped for where it stands. */
import { fillLink, type MessagePurpose } from "../outbox/message.ts";
import type { TimedMessage } from "../outbox/sealed_message.ts";

export type RenderedMessage = {
  subject: string;
  text: string;
  /** Of mail only. */
  html: string;
};

type Words = { subject(app: string): string; lead(app: string): string; link: string };

const words: Readonly<Record<MessagePurpose, Words>> = {
  code: {
    subject: (app) => `Your verification code for ${app}`,
    lead: (app) => `Your verification code for ${app}:`,
    link: "Continue",
  },
  login: {
    subject: (app) => `Sign in to ${app}`,
    lead: (app) => `Enter this to sign in to ${app}:`,
    link: "Sign in",
  },
  recovery: {
    subject: (app) => `Recover your ${app} account`,
    lead: (app) => `Enter this to recover your ${app} account:`,
    link: "Recover the account",
  },
};

export function renderMessage(message: TimedMessage): RenderedMessage {
  return message.channel === "sms" ? renderSms(message) : renderMail(message);
}

function renderSms({ code, appName, smsTemplate, purpose, ...times }: TimedMessage): RenderedMessage {
  const own = `${words[purpose].lead(appName)} ${code}. It is valid for ${lifeOf(times)}.`;
  const text = smsTemplate === undefined ? own : smsTemplate.split("{{.OtpCode}}").join(code);
  return { subject: words[purpose].subject(appName), text, html: "" };
}

function renderMail(message: TimedMessage): RenderedMessage {
  const { code, appName, organizationName, purpose, logoUrl, linkTemplate } = message;
  const { subject, lead, link } = words[purpose];
  const url = linkTemplate === undefined ? undefined : fillLink(linkTemplate, code);
  const valid = `It is valid for ${lifeOf(message)}. If you did not ask for it, ignore this message and give it to nobody.`;
  const sentFor = `Sent for ${organizationName}.`;
  const text = [lead(appName), code, ...(url === undefined ? [] : [`${link}: ${url}`]), valid, sentFor].join("\n\n");
  const logo = logoUrl === undefined ? "" : `<p><img src="${escapeHtml(logoUrl)}" alt="" style="max-width:340px"></p>`;
  const anchor = url === undefined ? "" : `<p><a href="${escapeHtml(url)}">${escapeHtml(link)}</a></p>`;
  const html = [
    '<!doctype html><html><body style="font-family:sans-serif">',
    logo,
    `<p>${escapeHtml(lead(appName))}</p>`,
    `<p style="${codeStyle(code)}"><b>${escapeHtml(code)}</b></p>`,
    anchor,
    `<p>${escapeHtml(valid)}</p>`,
    `<p style="color:#666">${escapeHtml(sentFor)}</p>`,
    "</body></html>",
  ];
  return { subject: subject(appName), text: `${text}\n`, html: html.filter((part) => part !== "").join("\n") };
}

/** A code is read aloud and typed, a bundle is copied. */
function codeStyle(code: string): string {
  return code.length <= 16 ? "font-size:28px;letter-spacing:4px" : "font-family:monospace;word-break:break-all";
}

function lifeOf({ createdAtMs, expiresAtMs }: Pick<TimedMessage, "createdAtMs" | "expiresAtMs">): string {
  const minutes = Math.max(1, Math.round((expiresAtMs - createdAtMs) / 60_000));
  const [count, unit] = lifeUnits.find(([inMinutes]) => minutes % inMinutes === 0) ?? [1, "minute"];
  const units = minutes / count;
  return units === 1 ? `1 ${unit}` : `${units} ${unit}s`;
}

/** The longest first; a life is said in the first that measures it whole. */
const lifeUnits: readonly (readonly [inMinutes: number, unit: string])[] = [
  [24 * 60, "day"],
  [60, "hour"],
];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

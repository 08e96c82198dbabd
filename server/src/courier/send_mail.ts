/** Mail over SMTP. Each message has a connection of its own: a provider that breaks one off takes nothing else along. */
import { comparableContact } from "@keystead/core/otp/otp_types.ts";
import { createTransport } from "nodemailer";
import { sendDeadlineMs } from "../frames/delivery_times.ts";
import type { TimedMessage } from "../outbox/sealed_message.ts";
import type { MailSender, MailSettings } from "./courier_settings.ts";
import { DeliveryFailure } from "./delivery_failure.ts";
import { openSocket } from "./open_socket.ts";
import { renderMessage } from "./render.ts";
import type { Sender } from "./sender.ts";

/** What `sendFromEmailSenderName` is without a value. */
const defaultName = "Notifications";

/** The limits of the library are for each step, so a slow server could take minutes. The deadline is for all of them together. */
export function createMailSender(settings: MailSettings, deadlineMs = sendDeadlineMs): Sender {
  const { host, port } = settings;
  const server = `${host}:${port}`;
  return async (messageId, message) => {
    const mail = toMail(settings, messageId, message);
    const deadline = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(tooLate(server, deadlineMs));
      deadline.abort();
    }, deadlineMs);
    const transport = createTransport({
      ...transportOptions(settings),
      // Its own socket could not be closed from here.
      getSocket: (_, done) =>
        void openSocket(host, port, deadline.signal).then((connection) => done(null, { connection }), done),
    });
    try {
      await Promise.race([transport.sendMail(mail), late.promise]);
    } catch (error) {
      throw error instanceof DeliveryFailure ? error : toFailure(error, server);
    } finally {
      clearTimeout(timer);
    }
  };
}

function tooLate(server: string, deadlineMs: number): DeliveryFailure {
  return new DeliveryFailure(
    "unreachable",
    false,
    `the mail server ${server} takes longer than ${deadlineMs / 1000} s`,
  );
}

/** Without TLS a network in between reads every code. On this machine there is none, and a certificate would prove nothing. */
export function transportOptions({ host, port, isTls, isLoopback, auth }: MailSettings) {
  return {
    host,
    port,
    secure: isTls,
    requireTLS: !isTls && !isLoopback,
    ...(auth !== undefined && { auth }),
    tls: { minVersion: "TLSv1.2" as const, rejectUnauthorized: !isLoopback },
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 15_000,
    // What a message names is text, never something to be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** The same message has the same Message-ID, so that a mailbox can tell a second copy. */
export function toMail({ senders }: MailSettings, messageId: string, message: TimedMessage) {
  const { to, replyTo, createdAtMs } = message;
  const from = senderOf(senders, message);
  const { subject, text, html } = renderMessage(message);
  return {
    messageId: `<${messageId}@${from.address.slice(from.address.indexOf("@") + 1)}>`,
    date: new Date(createdAtMs),
    from,
    to: { name: "", address: to },
    ...(replyTo !== undefined && { replyTo: { name: "", address: replyTo } }),
    // Given apart from the headers: whatever a header is read as, the mail goes to this one address.
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    html,
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

function senderOf(senders: MailSettings["senders"], { fromAddress, fromName }: TimedMessage): MailSender {
  if (fromAddress === undefined) return senders[0];
  const spelling = comparableContact("email", fromAddress);
  const known = senders.find(({ address }) => comparableContact("email", address) === spelling);
  if (known !== undefined) return { name: fromName ?? defaultName, address: known.address };
  throw new DeliveryFailure("sender", true, "mail asks for a sender that KEYSTEAD_MAIL_FROM does not list");
}

/** A server's own words may repeat the address, so only its number is passed on. */
function toFailure(error: unknown, server: string): DeliveryFailure {
  const { code = "", responseCode, message = "" } = error as { code?: string; responseCode?: number; message?: string };
  const said = `the mail server ${server}`;
  // nodemailer gives every error of a socket one code, and leaves the words.
  if (code === "ETLS" || (code === "ESOCKET" && /certificate|\b(TLS|SSL)\b/i.test(message))) {
    return new DeliveryFailure("tls", false, `${said} offers no TLS that can be verified (${code})`);
  }
  if (code === "EAUTH") return new DeliveryFailure("authentication", false, `${said} refuses the login of SMTP_URL`);
  // The client itself found that this server cannot take such an address or text.
  if (responseCode === undefined && (code === "EENVELOPE" || code === "EMESSAGE")) {
    return new DeliveryFailure("rejected", true, `${said} cannot take a message (${code})`);
  }
  if (responseCode !== undefined && responseCode >= 500) {
    return new DeliveryFailure("rejected", true, `${said} refuses a message (SMTP ${responseCode})`);
  }
  if (responseCode !== undefined && responseCode >= 400) {
    return new DeliveryFailure("deferred", false, `${said} wants a message later (SMTP ${responseCode})`);
  }
  return new DeliveryFailure(
    "unreachable",
    false,
    `${said} cannot be reached (${/^[A-Z_]+$/.test(code) ? code : "error"})`,
  );
}

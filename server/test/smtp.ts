/** A real SMTP server on loopback, whose behaviour a test chooses. */
import type { AddressInfo, Socket } from "node:net";
import type { TestContext } from "node:test";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { MailSettings } from "../src/courier/courier_settings.ts";

export type ReceivedMail = { from: string; to: string[]; raw: string; isSecure: boolean; user: string | undefined };

export type SmtpStub = {
  port: number;
  received: ReceivedMail[];
  settings: MailSettings;
  url: string;
  close(): Promise<void>;
};

export type SmtpOptions = SMTPServerOptions & {
  /** May refuse what has been received whole, or hold it back. */
  onMail?(mail: ReceivedMail, socket: Socket): Promise<void> | void;
  host?: string;
  port?: number;
};

export async function startSmtp(t: Pick<TestContext, "after">, options: SmtpOptions = {}): Promise<SmtpStub> {
  const { onMail, host = "127.0.0.1", port: wanted = 0, ...rest } = options;
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 100,
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(parts).toString("utf8"),
          isSecure: session.secure,
          user: typeof session.user === "string" ? session.user : undefined,
        };
        try {
          const connection = [...server.connections].find(({ session: own }) => own === session);
          await onMail?.(mail, connection?._socket as Socket);
          received.push(mail);
          done();
        } catch (error) {
          done(error as Error);
        }
      });
    },
    ...rest,
  });
  // A client that breaks off is what some tests are about.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(wanted, host, () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  t.after(close);
  const settings: MailSettings = {
    host,
    port,
    isTls: false,
    isLoopback: true,
    auth: undefined,
    senders: [
      { name: "Example", address: "no-reply@example.com" },
      { name: "", address: "login@acme.example" },
    ],
  };
  return { port, received, settings, url: `smtp://${host}:${port}`, close };
}

/** An answer with this number. */
export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** The value of a header, unfolded. */
export function headerOf({ raw }: ReceivedMail, name: string): string | undefined {
  const head = raw.slice(0, raw.indexOf("\r\n\r\n")).replaceAll(/\r\n[ \t]+/g, " ");
  return head
    .split("\r\n")
    .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    ?.slice(name.length + 1)
    .trim();
}

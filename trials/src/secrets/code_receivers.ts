/** A mail server and a gateway for text messages, which read the codes that they are given as their users would. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { patienceMs } from "../../../core/test/patience.ts";
import { startSmsGateway } from "../../../server/test/sms_gateway.ts";
import { startSmtp } from "../../../server/test/smtp.ts";

/** Mail to it is not acknowledged until `letGo`: as long, the courier is busy sending it. */
export const heldContact = "held@example.com";

export type CodeReceivers = {
  /** The settings of a server that sends through these. */
  env: Record<string, string>;
  /** The code that a contact was sent; it is waited for. */
  codeTo(contact: string): Promise<string>;
  letGo(): void;
};

const symbol = "[0-9A-HJKMNP-TV-Z]";
/** In mail the code has a line of its own. */
const inMail = new RegExp(`^(${symbol}{9})\\r?$`, "m");
const inText = new RegExp(`: (${symbol}{9})\\. `);

export async function startCodeReceivers(t: TestContext): Promise<CodeReceivers> {
  const mailed = new Map<string, string>();
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const smtp = await startSmtp(t, {
    async onMail({ to: [to = ""], raw }) {
      mailed.set(to, inMail.exec(raw)?.[1] ?? "");
      if (to === heldContact) await isLetGo;
    },
  });
  const sms = await startSmsGateway(t);
  const textTo = (contact: string) => sms.received.find(({ to }) => to === contact)?.text;
  return {
    env: {
      SMTP_URL: smtp.url,
      KEYSTEAD_MAIL_FROM: "no-reply@example.com",
      KEYSTEAD_SMS_URL: sms.url,
      KEYSTEAD_DEV_EGRESS: "loopback",
    },
    async codeTo(contact) {
      for (const deadline = Date.now() + patienceMs; ; await pause(20)) {
        const text = textTo(contact);
        const code = text === undefined ? mailed.get(contact) : (inText.exec(text)?.[1] ?? "");
        if (code !== undefined) return code;
        assert.ok(Date.now() < deadline, `no code came to ${contact}`);
      }
    },
    letGo,
  };
}

/** Messages for tests of the outbox and the courier. */
import { randomUUID } from "node:crypto";
import type { TimedMessage } from "../src/outbox/sealed_message.ts";

export function newMessage(changes: Partial<TimedMessage> = {}): TimedMessage {
  const createdAtMs = changes.createdAtMs ?? Date.now();
  return {
    channel: "email",
    to: "ann@example.com",
    purpose: "code",
    code: "7XK2M9QRT",
    appName: "Example",
    organizationName: "Acme",
    createdAtMs,
    expiresAtMs: createdAtMs + 300_000,
    ...changes,
  };
}

export function newPlace(): { organizationId: string; messageId: string } {
  return { organizationId: randomUUID(), messageId: randomUUID() };
}

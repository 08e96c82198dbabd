/** Messages in the outbox of a running server, sealed as its signer seals them and written past it. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import type { OutgoingMessage } from "@keystead/server/outbox/message.ts";
import { sealMessage } from "@keystead/server/outbox/sealed_message.ts";
import { openKeyring } from "@keystead/server/signer/secrets/keyring.ts";
import { type Tables, tables } from "@keystead/server/store/tables.ts";

export type StoredMessages = {
  /** Commits one message; its id. */
  add(changes?: Partial<OutgoingMessage>): string;
  /** Writes one and takes it back. */
  addInVain(): string;
  row(messageId: string): Tables["outbox"] | undefined;
  close(): void;
};

export function openStoredMessages({ dataFolder, bootstrap }: KeysteadServer): StoredMessages {
  const database = new DatabaseSync(join(dataFolder, "database", "keystead.db"), { timeout: 5_000 });
  const { organizationId } = bootstrap;
  const rootKey = new Uint8Array(readFileSync(join(dataFolder, "root.key")));
  const { keyring } = database.prepare("select keyring from deployment").get() as { keyring: Uint8Array };
  const { courierKey } = openKeyring(rootKey, 1, keyring);
  const columns = Object.keys(tables.outbox);
  const insert = database.prepare(
    `insert into outbox (${columns.join(", ")}) values (${columns.map((name) => `:${name}`).join(", ")})`,
  );

  function add(changes: Partial<OutgoingMessage> = {}): string {
    const createdAtMs = Date.now();
    const messageId = randomUUID();
    const message = {
      channel: "email" as const,
      to: "ann@example.com",
      purpose: "code" as const,
      code: messageId.slice(0, 8),
      appName: "Example",
      organizationName: "Acme",
      expiresAtMs: createdAtMs + 600_000,
      createdAtMs,
      ...changes,
    };
    insert.run({
      organization_id: organizationId,
      message_id: messageId,
      activity_id: randomUUID(),
      channel: message.channel,
      sealed: sealMessage(courierKey, { organizationId, messageId }, message),
      state: "PENDING",
      attempts: 0,
      next_attempt_at_ms: createdAtMs,
      claimed_by: null,
      error: null,
      expires_at_ms: message.expiresAtMs,
      created_at_ms: createdAtMs,
      updated_at_ms: createdAtMs,
      to_address: message.channel === "email" ? message.to : null,
      from_address: null,
    } satisfies Tables["outbox"]);
    return messageId;
  }

  return {
    add,
    addInVain() {
      database.exec("begin immediate");
      const messageId = add();
      database.exec("rollback");
      return messageId;
    },
    row: (messageId) =>
      database.prepare("select * from outbox where message_id = ?").get(messageId) as Tables["outbox"] | undefined,
    close: () => database.close(),
  };
}

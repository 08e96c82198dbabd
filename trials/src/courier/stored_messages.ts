/** Messages in the outbox of a running server, sealed as its signer seals them and written past it. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import type { OutgoingMessage } from "@keystead/server/outbox/message.ts";
import { sealMessage } from "@keystead/server/outbox/sealed_message.ts";
import { openKeyring } from "@keystead/server/signer/secrets/keyring.ts";
import type { Tables } from "@keystead/server/store/tables.ts";
import { openRaw, type Source } from "../hostile/raw_database.ts";

export type StoredMessages = {
  /** Commits one message; its id. */
  add(changes?: Partial<OutgoingMessage>): Promise<string>;
  /** Writes one and takes it back. */
  addInVain(): Promise<void>;
  row(messageId: string): Promise<Tables["outbox"] | undefined>;
  close(): Promise<void>;
};

/** On SQLite unless a database is named. */
export async function openStoredMessages(
  { dataFolder, bootstrap }: KeysteadServer,
  source: Source = { kind: "sqlite", folder: join(dataFolder, "database") },
): Promise<StoredMessages> {
  const database = await openRaw(source);
  const { organizationId } = bootstrap;
  const rootKey = new Uint8Array(readFileSync(join(dataFolder, "root.key")));
  const [deployment] = await database.rows("deployment");
  const { courierKey } = openKeyring(rootKey, 1, deployment?.keyring as Uint8Array);

  function newRow(changes: Partial<OutgoingMessage> = {}): Tables["outbox"] {
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
    return {
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
    };
  }

  return {
    async add(changes) {
      const row = newRow(changes);
      await database.insert("outbox", row);
      return row.message_id;
    },
    addInVain: () => database.insertInVain("outbox", newRow()),
    async row(messageId) {
      const rows = await database.rows("outbox", organizationId);
      return rows.find(({ message_id }) => message_id === messageId) as Tables["outbox"] | undefined;
    },
    close: () => database.close(),
  };
}

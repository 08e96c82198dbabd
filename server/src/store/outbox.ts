/**
 * Messages to be sent. A row comes with its activity, in one transaction. Gateways take turns by compare-and-set: `attempts` counts the
 * claims, so whoever moves it from what it was read as has the row until `next_attempt_at_ms`.
 */
import type { Kysely } from "kysely";
import { noteEmailEvent } from "./email_events.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type MessageState = "PENDING" | "SENT" | "FAILED";

/** A message as a commit brings it. */
export type NewMessage = {
  messageId: string;
  channel: string;
  expiresAtMs: number;
  sealed: Uint8Array;
  /** Of mail: whom it is for, and the sender that was asked for. */
  toAddress?: string | undefined;
  fromAddress?: string | undefined;
};

/** A message whose time has come. */
export type DueMessage = {
  organizationId: string;
  messageId: string;
  activityId: string;
  channel: string;
  sealed: Uint8Array;
  attempts: number;
  /** Of the attempt before. */
  error: string | null;
  expiresAtMs: number;
};

/** A message that this gateway has claimed: nobody else sends it before `untilMs`. */
export type Claim = { organizationId: string; messageId: string; attempts: number };

/** Undefined when another gateway was faster. */
export async function claimMessage(
  { db }: Store,
  { organizationId, messageId, attempts }: DueMessage,
  { host, nowMs, untilMs }: { host: string; nowMs: number; untilMs: number },
): Promise<Claim | undefined> {
  const claim = { organizationId, messageId, attempts: attempts + 1 };
  const { numUpdatedRows } = await updatePending(db, organizationId, messageId)
    .set({ attempts: claim.attempts, claimed_by: host, next_attempt_at_ms: untilMs, updated_at_ms: nowMs })
    .where("attempts", "=", attempts)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? claim : undefined;
}

/** Sent is sent, whoever has claimed it meanwhile. What was sealed is not needed any more, nor is the contact in it. */
export async function noteSent({ db }: Store, { organizationId, messageId }: Claim, nowMs: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await updatePending(tx, organizationId, messageId)
      .set({ state: "SENT", sealed: null, claimed_by: null, error: null, updated_at_ms: nowMs })
      .execute();
    await noteEmailEvent(tx, { organizationId, messageId, eventType: "Send", error: null, nowMs });
  });
}

/** Another attempt at that time, unless somebody else has claimed it since. */
export async function noteRetry(
  { db }: Store,
  { organizationId, messageId, attempts }: Claim,
  { error, nowMs, nextAttemptAtMs }: { error: string; nowMs: number; nextAttemptAtMs: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await updatePending(tx, organizationId, messageId)
      .set({ error, claimed_by: null, next_attempt_at_ms: nextAttemptAtMs, updated_at_ms: nowMs })
      .where("attempts", "=", attempts)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return;
    await noteEmailEvent(tx, { organizationId, messageId, eventType: "DeliveryDelay", error, nowMs });
  });
}

/** It will not be sent. True when this call has said so first. */
export async function noteFailed(
  { db }: Store,
  { organizationId, messageId, attempts }: Claim,
  error: string,
  nowMs: number,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await updatePending(tx, organizationId, messageId)
      .set({ state: "FAILED", sealed: null, claimed_by: null, error, updated_at_ms: nowMs })
      .where("attempts", "=", attempts)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    // Only a provider that refuses the message itself has said anything about its recipient.
    const eventType = error === "rejected" ? "Bounce" : "Failed";
    await noteEmailEvent(tx, { organizationId, messageId, eventType, error, nowMs });
    return true;
  });
}

function updatePending(db: Kysely<Tables>, organizationId: string, messageId: string) {
  return db
    .updateTable("outbox")
    .where("organization_id", "=", organizationId)
    .where("message_id", "=", messageId)
    .where("state", "=", "PENDING" satisfies MessageState);
}

/** What became of mail. Events are written with the change of the message's row that they tell of, and deleted with its age. */
import { randomBytes } from "node:crypto";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { type Kysely, sql } from "kysely";
import { compiled } from "./compiled.ts";
import { lowerAscii } from "./lower_ascii.ts";
import { read } from "./read.ts";
import { boundsOf, type Span } from "./span.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** In the words of the published description, and one of our own for what never reached a provider. */
export const emailEventTypes = ["Send", "DeliveryDelay", "Bounce", "Failed"] as const;
export type EmailEventType = (typeof emailEventTypes)[number];

export type EmailEvent = {
  eventId: string;
  messageId: string;
  eventType: EmailEventType;
  toAddress: string;
  fromAddress: string | null;
  error: string | null;
  createdAtMs: number;
};

type Noted = {
  organizationId: string;
  messageId: string;
  eventType: EmailEventType;
  error: string | null;
  nowMs: number;
};

/** Notes an event of a message, once for each type. One that is no mail has none. */
export async function noteEmailEvent(
  db: Kysely<Tables>,
  { organizationId, messageId, eventType, error, nowMs }: Noted,
): Promise<void> {
  await db
    .insertInto("email_events")
    .columns([
      "organization_id",
      "event_id",
      "message_id",
      "event_type",
      "to_address",
      "from_address",
      "error",
      "created_at_ms",
    ])
    .expression((query) =>
      query
        .selectFrom("outbox")
        .select([
          "organization_id",
          sql<string>`cast(${newEventId(nowMs)} as text)`.as("event_id"),
          "message_id",
          sql<string>`cast(${eventType} as text)`.as("event_type"),
          sql<string>`to_address`.as("to_address"),
          "from_address",
          sql<string | null>`cast(${error} as text)`.as("error"),
          sql<number>`cast(${nowMs} as bigint)`.as("created_at_ms"),
        ])
        .where("organization_id", "=", organizationId)
        .where("message_id", "=", messageId)
        .where("to_address", "is not", null),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Sorts by time: in the shape of UUID version 7. */
function newEventId(nowMs: number): string {
  const id = randomBytes(16);
  id.writeUIntBE(nowMs, 0, 6);
  id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  return uuidFromBytes(id);
}

/** Events of mail to one address, whatever its case, the newest first. */
export async function listEmailEvents(
  { db }: Store,
  organizationId: string,
  { email, eventType }: { email: string; eventType: string | undefined },
  span: Span,
): Promise<EmailEvent[]> {
  const { above, below, direction, inOrder } = boundsOf(span, "desc");
  const ofRecipient = db
    .selectFrom("email_events")
    .select([
      "event_id as eventId",
      "message_id as messageId",
      "event_type as eventType",
      "to_address as toAddress",
      "from_address as fromAddress",
      "error",
      "created_at_ms as createdAtMs",
    ])
    .where("organization_id", "=", organizationId)
    .where(sql<string>`lower(to_address)`, "=", lowerAscii(email))
    .where("event_id", ">", above)
    .where("event_id", "<", below)
    .orderBy("event_id", direction)
    .limit(span.limit);
  const rows = await read(eventType === undefined ? ofRecipient : ofRecipient.where("event_type", "=", eventType));
  return inOrder(rows.map((row) => ({ ...row, eventType: row.eventType as EmailEventType })));
}

const event = compiled("email_event", (db, organizationId: string, eventId: string) =>
  db
    .selectFrom("email_events")
    .select("event_id")
    .where("organization_id", "=", organizationId)
    .where("event_id", "=", eventId),
);

export async function isEmailEvent(store: Store, organizationId: string, eventId: string): Promise<boolean> {
  return (await event(store, organizationId, eventId)).length > 0;
}

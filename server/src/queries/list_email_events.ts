import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { emailEvent } from "../fields/email_events.ts";
import { organizationId } from "../fields/ids.ts";
import { type Page, paginationOptions, parsePagination, unknownCursor } from "../fields/pagination.ts";
import { Type } from "../fields/schema.ts";
import { parseSearchedEmail } from "../rules/contacts.ts";
import { isEmailEvent, listEmailEvents as listEvents } from "../store/email_events.ts";
import type { Store } from "../store/store.ts";
import { emailEventView } from "../views/email_event_view.ts";

/** Lists what became of mail to one address, the newest first: `before` the last id of a page is the next page. */
export const listEmailEvents = defineQuery({
  path: "list_email_events",
  summary: "List what became of mail to an address, newest first",
  request: Type.Object({
    organizationId,
    email: Type.String({ minLength: 1, maxLength: 320, description: "Recipient, in either case." }),
    eventType: optional(
      Type.String({ maxLength: 64, description: "Only these: Send, DeliveryDelay, Bounce or Failed." }),
    ),
    paginationOptions,
  }),
  response: Type.Object({ emailEvents: Type.Array(emailEvent) }),
  async run(store, _caller, { organizationId, email, eventType, paginationOptions }) {
    const page = parsePagination(paginationOptions);
    const filter = { email: parseSearchedEmail(email) ?? email, eventType: eventType || undefined };
    await refuseUnknownCursors(store, organizationId, page);
    const events = await listEvents(store, organizationId, filter, page);
    return { emailEvents: events.map((event) => emailEventView(organizationId, event)) };
  },
});

async function refuseUnknownCursors(store: Store, organizationId: string, { before, after }: Page): Promise<void> {
  for (const cursor of [before, after]) {
    if (cursor !== undefined && !(await isEmailEvent(store, organizationId, cursor))) throw unknownCursor(cursor);
  }
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { emailEventTypes } from "../store/email_events.ts";
import { emailEventView } from "./email_event_view.ts";

const told = { eventId: "e", messageId: "m", toAddress: "ann@example.com", fromAddress: null, createdAtMs: 1 };

test("an event of mail has the published fields that its type has", () => {
  const views = emailEventTypes.map((eventType) =>
    emailEventView("org", { ...told, eventType, error: eventType === "Send" ? null : "rejected" }),
  );
  for (const view of views) assert.deepEqual([view.senderTenant, view.fromAddress], ["", ""]);
  assert.deepEqual(
    views.map(({ eventType, details }) => [eventType, details]),
    [
      ["Send", {}],
      ["DeliveryDelay", { deliveryDelayType: "Undetermined", diagnosticCode: "rejected" }],
      ["Bounce", { bounceType: "Permanent", bounceSubType: "General", diagnosticCode: "rejected" }],
      ["Failed", { diagnosticCode: "rejected" }],
    ],
  );
});

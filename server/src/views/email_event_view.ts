import type { EmailEvent } from "../store/email_events.ts";

export function emailEventView(organizationId: string, event: EmailEvent) {
  const { eventId, messageId, eventType, toAddress, fromAddress, error, createdAtMs } = event;
  return {
    id: eventId,
    organizationId,
    messageId,
    eventType,
    fromAddress: fromAddress ?? "",
    toAddress,
    senderTenant: "",
    timestamp: String(createdAtMs),
    createdAt: String(createdAtMs),
    details: {
      ...(eventType === "Bounce" && { bounceType: "Permanent", bounceSubType: "General" }),
      ...(eventType === "DeliveryDelay" && { deliveryDelayType: "Undetermined" }),
      ...(error !== null && { diagnosticCode: error }),
    },
  };
}

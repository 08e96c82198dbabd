import { optional } from "./credentials.ts";
import { id, organizationId } from "./ids.ts";
import { Type } from "./schema.ts";

const milliseconds = (description: string) =>
  Type.String({ description: `${description}, in milliseconds since 1970.` });

export const emailEvent = Type.Object({
  id,
  organizationId,
  messageId: Type.String({ description: "Of the mail; its `Message-ID` begins with it." }),
  eventType: Type.String({ description: "Send, DeliveryDelay, Bounce or Failed." }),
  fromAddress: Type.String({ description: "Sender that was asked for; empty for the operator's default." }),
  toAddress: Type.String({ description: "Recipient." }),
  timestamp: milliseconds("When it happened"),
  createdAt: milliseconds("When it was noted"),
  details: Type.Object({
    bounceType: optional(Type.String({ description: "Of a Bounce: Permanent." })),
    diagnosticCode: optional(Type.String({ description: "Why, in one word; never the provider's own words." })),
  }),
});

import { id, organizationId } from "./ids.ts";
import { Type } from "./schema.ts";

const milliseconds = (description: string) =>
  Type.String({ description: `${description}, in milliseconds since 1970.` });

const ofSome = (description: string) => Type.Optional(Type.String({ description }));

export const emailEvent = Type.Object({
  id,
  organizationId,
  messageId: Type.String({ description: "Id of the mail; its `Message-ID` begins with it." }),
  eventType: Type.String({ description: "Send, DeliveryDelay, Bounce or Failed." }),
  fromAddress: Type.String({ description: "Sender that was asked for; empty for the operator's default." }),
  toAddress: Type.String({ description: "Recipient." }),
  senderTenant: Type.String({ description: "Tenant at the provider that sent it; empty, as none is known here." }),
  timestamp: milliseconds("When it happened"),
  createdAt: milliseconds("When it was noted"),
  details: Type.Object({
    bounceType: ofSome("Kind of a Bounce: Permanent."),
    bounceSubType: ofSome("Kind of a Bounce in detail: General."),
    diagnosticCode: ofSome("Why, in one word; never the provider's own words."),
    deliveryDelayType: ofSome("Kind of a DeliveryDelay: Undetermined."),
    deliverySmtpResponse: ofSome("Answer to a Delivery, which is not reported here."),
    deliveryProcessingTimeMillis: ofSome("Time of a Delivery, which is not reported here."),
    complaintFeedbackType: ofSome("Kind of a Complaint, which is not reported here."),
  }),
});

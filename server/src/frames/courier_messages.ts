/**
 * What the gateway and the courier say to each other, in the same frames as gateway and signer: a sealed message in, what became of it
 * out. The gateway names neither a contact nor a text; both are in the box.
 */
import { bool, bytes, oneOf, struct, text, type ValueOf, variant } from "@keystead/core/encoding/layout.ts";

/** Why a message was not sent, in words that give away neither the contact nor the code. */
export const deliveryErrors = [
  /** Not a box that the signer sealed for this id. */
  "invalid",
  "expired",
  /** There are settings for other messages, and none for this channel. */
  "unconfigured",
  /** Its sender is not one of KEYSTEAD_MAIL_FROM. */
  "sender",
  /** No connection, or one that broke off or fell silent. */
  "unreachable",
  /** No TLS where it is required, or not with the right host. */
  "tls",
  /** The provider does not take our user name, password or token. */
  "authentication",
  /** The provider refuses this message for good. */
  "rejected",
  /** The provider asks to come again later. */
  "deferred",
  /** The courier sends as many as it can at once. */
  "busy",
  /** It could not be written to the mailbox folder. */
  "storage",
  /** The courier ended, or did not answer in time. */
  "courier",
] as const;
export type DeliveryError = (typeof deliveryErrors)[number];

export const deliverRequest = struct({ organizationId: text, messageId: text, sealed: bytes });

/** Final: no further attempt can do better. */
export const deliverReply = variant({
  sent: struct({}),
  failed: struct({ error: oneOf(deliveryErrors), isFinal: bool }),
});

export type DeliverRequest = ValueOf<typeof deliverRequest>;
export type Delivered = ValueOf<typeof deliverReply>;

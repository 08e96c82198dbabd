/**
 * A message sealed by the signer for the courier. Layout and reasons: SPEC.md in this folder. The key of each box derives from the
 * courier key, the organization and the message's id, so that a box under another id does not open; and boxes of most messages are
 * equally long.
 */
import {
  decode,
  encode,
  oneOf,
  optional,
  struct,
  text,
  u8,
  u64,
  type ValueOf,
} from "@keystead/core/encoding/layout.ts";
import { openBox, sealBox } from "./courier_box.ts";
import { channels, flawOf, longestLifeMs, messagePurposes, type OutgoingMessage } from "./message.ts";

/** What a box is bound to. */
export type MessagePlace = { organizationId: string; messageId: string };

export type TimedMessage = OutgoingMessage & {
  /** By the signer's clock. */
  createdAtMs: number;
};

const format = 1;

const boundLayout = struct({ format: u8, organizationId: text, messageId: text });

const contentLayout = struct({
  createdAtMs: u64,
  expiresAtMs: u64,
  channel: oneOf(channels),
  purpose: oneOf(messagePurposes),
  to: text,
  code: text,
  appName: text,
  organizationName: text,
  fromAddress: optional(text),
  fromName: optional(text),
  replyTo: optional(text),
  logoUrl: optional(text),
  linkTemplate: optional(text),
  smsTemplate: optional(text),
});

/** Seals a message that `flawOf` has no objection to. Without links and templates it is shorter than one step of a box. */
export function sealMessage(
  courierKey: Uint8Array,
  place: MessagePlace,
  message: TimedMessage,
): Uint8Array<ArrayBuffer> {
  return sealBox(courierKey, boundOf(place), encode(contentLayout, allFields(message)));
}

/** The message in a box; undefined for everything that the signer has not sealed for this place. */
export function openMessage(courierKey: Uint8Array, place: MessagePlace, box: Uint8Array): TimedMessage | undefined {
  return openBox(courierKey, boundOf(place), box, readContent);
}

function boundOf({ organizationId, messageId }: MessagePlace): Uint8Array {
  return encode(boundLayout, { format, organizationId, messageId });
}

/** Throws for what no signer of this format writes. */
function readContent(content: Uint8Array): TimedMessage | undefined {
  const message = decode(contentLayout, content);
  const lifeMs = message.expiresAtMs - message.createdAtMs;
  return flawOf(message) === undefined && lifeMs > 0 && lifeMs <= longestLifeMs ? message : undefined;
}

/** Optional fields by name: the layout asks for every one. */
function allFields(message: TimedMessage): ValueOf<typeof contentLayout> {
  const { fromAddress, fromName, replyTo, logoUrl, linkTemplate, smsTemplate } = message;
  return { ...message, fromAddress, fromName, replyTo, logoUrl, linkTemplate, smsTemplate };
}

/**
 * A message sealed by the signer for the courier. Layout and reasons: SPEC.md in this folder. The key of each box derives from the
 * courier key, the organization and the message's id, so that a box under another id does not open; and boxes of most messages are
 * equally long.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import {
  bytes,
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
import { equalBytes } from "../state/digest.ts";
import { channels, flawOf, longestLifeMs, messagePurposes, type OutgoingMessage } from "./message.ts";

/** What a box is bound to. */
export type MessagePlace = { organizationId: string; messageId: string };

export type TimedMessage = OutgoingMessage & {
  /** By the signer's clock. */
  createdAtMs: number;
};

export const courierKeyLength = 32;

const format = 1;
const saltLength = 32;
const keyLength = 32;
const nonceLength = 12;
const commitmentLength = 16;
const tagLength = 16;
const headLength = 1 + saltLength + commitmentLength;
/** Plaintexts are filled up to a multiple of this. A message without links and templates is shorter than one step. */
const step = 1_024;
const maxSteps = 16;

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

/** Seals a message that `flawOf` has no objection to. */
export function sealMessage(
  courierKey: Uint8Array,
  place: MessagePlace,
  message: TimedMessage,
): Uint8Array<ArrayBuffer> {
  const salt = randomBytes(saltLength);
  const { key, nonce, commitment, bound } = keysOf(courierKey, place, salt);
  const plain = padded(encode(contentLayout, allFields(message)));
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  cipher.setAAD(bound);
  const box = new Uint8Array(headLength + plain.length + tagLength);
  box[0] = format;
  box.set(salt, 1);
  box.set(commitment, 1 + saltLength);
  box.set(cipher.update(plain), headLength);
  cipher.final();
  box.set(cipher.getAuthTag(), headLength + plain.length);
  plain.fill(0);
  key.fill(0);
  return box;
}

/** The message in a box; undefined for everything that the signer has not sealed for this place. */
export function openMessage(courierKey: Uint8Array, place: MessagePlace, box: Uint8Array): TimedMessage | undefined {
  const length = box.length - headLength - tagLength;
  if (box[0] !== format || length <= 0 || length % step !== 0 || length > maxSteps * step) return undefined;
  const { key, nonce, commitment, bound } = keysOf(courierKey, place, box.subarray(1, 1 + saltLength));
  if (!equalBytes(commitment, box.subarray(1 + saltLength, headLength))) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  decipher.setAAD(bound);
  decipher.setAuthTag(box.subarray(headLength + length));
  try {
    const plain = decipher.update(box.subarray(headLength, headLength + length));
    decipher.final();
    const message = readContent(plain);
    plain.fill(0);
    return message;
  } catch {
    return undefined;
  } finally {
    key.fill(0);
  }
}

function keysOf(courierKey: Uint8Array, { organizationId, messageId }: MessagePlace, salt: Uint8Array) {
  const bound = encode(boundLayout, { format, organizationId, messageId });
  const okm = new Uint8Array(hkdfSync("sha256", courierKey, salt, bound, keyLength + nonceLength + commitmentLength));
  return {
    key: okm.subarray(0, keyLength),
    nonce: okm.subarray(keyLength, keyLength + nonceLength),
    commitment: okm.subarray(keyLength + nonceLength),
    bound,
  };
}

/** Length, content, zeros. */
function padded(content: Uint8Array): Uint8Array {
  const plain = new Uint8Array(Math.ceil((4 + content.length) / step) * step);
  if (plain.length > maxSteps * step) throw new Error("a message is longer than its parts may be together");
  plain.set(encode(bytes, content));
  content.fill(0);
  return plain;
}

/** Throws for what no signer of this format writes. */
function readContent(plain: Uint8Array): TimedMessage | undefined {
  const length = new DataView(plain.buffer, plain.byteOffset).getUint32(0);
  const end = 4 + length;
  if (end > plain.length || Math.ceil(end / step) * step !== plain.length) return undefined;
  if (plain.subarray(end).some((byte) => byte !== 0)) return undefined;
  const message = decode(contentLayout, plain.subarray(4, end));
  const lifeMs = message.expiresAtMs - message.createdAtMs;
  return flawOf(message) === undefined && lifeMs > 0 && lifeMs <= longestLifeMs ? message : undefined;
}

/** Optional fields by name: the layout asks for every one. */
function allFields(message: TimedMessage): ValueOf<typeof contentLayout> {
  const { fromAddress, fromName, replyTo, logoUrl, linkTemplate, smsTemplate } = message;
  return { ...message, fromAddress, fromName, replyTo, logoUrl, linkTemplate, smsTemplate };
}

/**
 * What signer and courier seal for each other under the courier key. Layout and reasons: SPEC.md in this folder. The key of each box
 * derives from the courier key and from what the box is bound to, so that it opens nowhere else; and boxes of most contents are equally
 * long.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { bytes, encode } from "@keystead/core/encoding/layout.ts";
import { equalBytes } from "../state/digest.ts";

export const courierKeyLength = 32;

const saltLength = 32;
const keyLength = 32;
const nonceLength = 12;
const commitmentLength = 16;
const tagLength = 16;
const headLength = 1 + saltLength + commitmentLength;
/** Plaintexts are filled up to a multiple of this. */
const step = 1_024;
const maxSteps = 16;

/** `bound` begins with the format, which says what is in the box; the box begins with it, too. The content is wiped. */
export function sealBox(courierKey: Uint8Array, bound: Uint8Array, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const salt = randomBytes(saltLength);
  const { key, nonce, commitment } = keysOf(courierKey, bound, salt);
  const plain = padded(content);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  cipher.setAAD(bound);
  const box = new Uint8Array(headLength + plain.length + tagLength);
  box[0] = bound[0] ?? 0;
  box.set(salt, 1);
  box.set(commitment, 1 + saltLength);
  box.set(cipher.update(plain), headLength);
  cipher.final();
  box.set(cipher.getAuthTag(), headLength + plain.length);
  plain.fill(0);
  key.fill(0);
  return box;
}

/** What `read` makes of the content of a box; undefined for everything that was not sealed for this. `read` may throw. */
export function openBox<T>(
  courierKey: Uint8Array,
  bound: Uint8Array,
  box: Uint8Array,
  read: (content: Uint8Array) => T | undefined,
): T | undefined {
  const length = box.length - headLength - tagLength;
  if (box[0] !== bound[0] || length <= 0 || length % step !== 0 || length > maxSteps * step) return undefined;
  const { key, nonce, commitment } = keysOf(courierKey, bound, box.subarray(1, 1 + saltLength));
  if (!equalBytes(commitment, box.subarray(1 + saltLength, headLength))) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  decipher.setAAD(bound);
  decipher.setAuthTag(box.subarray(headLength + length));
  try {
    const plain = decipher.update(box.subarray(headLength, headLength + length));
    decipher.final();
    const content = contentOf(plain);
    const value = content && read(content);
    plain.fill(0);
    return value;
  } catch {
    return undefined;
  } finally {
    key.fill(0);
  }
}

function keysOf(courierKey: Uint8Array, bound: Uint8Array, salt: Uint8Array) {
  const okm = new Uint8Array(hkdfSync("sha256", courierKey, salt, bound, keyLength + nonceLength + commitmentLength));
  return {
    key: okm.subarray(0, keyLength),
    nonce: okm.subarray(keyLength, keyLength + nonceLength),
    commitment: okm.subarray(keyLength + nonceLength),
  };
}

/** Length, content, zeros. */
function padded(content: Uint8Array): Uint8Array {
  const plain = new Uint8Array(Math.ceil((4 + content.length) / step) * step);
  if (plain.length > maxSteps * step) throw new Error("a box would be longer than its parts may be together");
  plain.set(encode(bytes, content));
  content.fill(0);
  return plain;
}

function contentOf(plain: Uint8Array): Uint8Array | undefined {
  const end = 4 + new DataView(plain.buffer, plain.byteOffset).getUint32(0);
  if (end > plain.length || Math.ceil(end / step) * step !== plain.length) return undefined;
  return plain.subarray(end).some((byte) => byte !== 0) ? undefined : plain.subarray(4, end);
}

import { isPointEncoding } from "@keystead/core/crypto/curves.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";

const hexBytes = /^(?:[0-9a-f]{2})+$/i;

/**
 * A key to look for, in the form that keys are stored in: lower-case hex, points compressed. Its curve is not known, and
 * whether it lies on one does not matter to a search.
 */
export function parseSearchedKey(text: string): string {
  const hex = text.replace(/^0x/i, "");
  if (!hexBytes.test(hex)) throw new Fault("invalid_argument", "malformed public key: not hex");
  const bytes = fromHex(hex);
  if (bytes.length === 32) return toHex(bytes);
  if (!isPointEncoding(bytes)) {
    throw new Fault("invalid_argument", "malformed public key: neither a point of a curve nor an ED25519 key");
  }
  if (bytes.length === 33) return toHex(bytes);
  // SEC 1, 2.3.3: the compressed form keeps x, and of y whether it is odd.
  const isOdd = ((bytes.at(-1) ?? 0) & 1) === 1;
  return (isOdd ? "03" : "02") + toHex(bytes.subarray(1, 33));
}

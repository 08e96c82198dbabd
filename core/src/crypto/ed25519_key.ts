/**
 * Ed25519 points that must never stand for anybody. Under a key of small order one signature holds for many messages; a y
 * of p or more is a second spelling of another point. OpenSSL 3.0 accepts both, 3.5 refuses small order, noble decides by
 * option: so we decide ourselves. Neither can come from an honest key generator, and both are refused when a key is
 * registered and again whenever one is used. An honest nonce (the first half of a signature) is never of this sort, either.
 */
import { fromHex } from "../encoding/hex.ts";

/** The y coordinates of the eight points of small order, little-endian; ± x is the sign bit, which we mask off. */
const smallOrder: readonly Uint8Array[] = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
].map(fromHex);

/** Whether 32 bytes are a canonical encoding, and not of a small-order point. Not whether they are on the curve. */
export function isStrongEd25519Point(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false;
  return isCanonical(bytes) && !smallOrder.some((y) => hasY(bytes, y));
}

/** y < p = 2^255 - 19. Only the 19 values from p up are not: all ones except a low byte of ed or more. */
function isCanonical(bytes: Uint8Array): boolean {
  if (withoutSign(bytes) !== 0x7f || (bytes[0] ?? 0) < 0xed) return true;
  for (let i = 1; i < 31; i++) if (bytes[i] !== 0xff) return true;
  return false;
}

function hasY(bytes: Uint8Array, y: Uint8Array): boolean {
  if (withoutSign(bytes) !== y[31]) return false;
  for (let i = 0; i < 31; i++) if (bytes[i] !== y[i]) return false;
  return true;
}

function withoutSign(bytes: Uint8Array): number {
  return (bytes[31] ?? 0) & 0x7f;
}

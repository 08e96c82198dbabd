/** The ECDSA signature that transactions of the secp256k1 chains take in. */
import { toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";

/** r and s in 32 bytes each, and whether the nonce point's y is odd. */
export type RecoverableSignature = { r: Uint8Array; s: Uint8Array; yParity: 0 | 1 };

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const half = order / 2n;

/**
 * Asserts what every chain demands of a signature: both numbers in range, and s in the lower half (EIP-2, Bitcoin's
 * relay policy), else nodes refuse a transaction that we call signed. It comes from our own signer, so a failure is ours.
 */
export function checkSignature({ r, s, yParity }: RecoverableSignature): void {
  if (r.length !== 32 || s.length !== 32 || (yParity !== 0 && yParity !== 1)) throw unusable("its parts are misshapen");
  const [rValue, sValue] = [toInteger(r), toInteger(s)];
  if (rValue === 0n || rValue >= order) throw unusable("r is out of range");
  if (sValue === 0n || sValue > half) throw unusable("s is out of range");
}

function toInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

/** r‖s‖v in 65 bytes with v 27 or 28, as Tron and Tempo carry it. */
export function toRsv({ r, s, yParity }: RecoverableSignature): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(65);
  bytes.set(r);
  bytes.set(s, 32);
  bytes[64] = 27 + yParity;
  return bytes;
}

function unusable(why: string): Fault {
  return new Fault("internal", `unusable signature: ${why}`);
}

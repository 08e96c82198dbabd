/**
 * ECDSA signatures as ASN.1 DER, SEQUENCE { INTEGER r, INTEGER s }, for curves of 256 bits.
 * For stamps, reading is deliberately looser than DER in one point: a published wallet client always writes 32-byte
 * integers, so about one honest signature in 256 carries a superfluous leading zero, which OpenSSL and noble both refuse.
 * Nothing is keyed on signature bytes, so a second spelling of a signature gains nobody anything. Authenticators write
 * strict DER, and theirs is read strictly.
 */
import { Fault } from "../fault.ts";

const sequenceTag = 0x30;
const integerTag = 0x02;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed DER signature: ${why}`);
}

/** Reads a DER signature into the 64 bytes r‖s. Whether r and s are in range is the verifier's question. */
export function parseEcdsaDer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return parseSequence(bytes, false);
}

/** The same without the exception for that wallet client: superfluous zeros are refused. */
export function parseStrictEcdsaDer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return parseSequence(bytes, true);
}

function parseSequence(bytes: Uint8Array, isStrict: boolean): Uint8Array<ArrayBuffer> {
  if (bytes[0] !== sequenceTag) throw malformed("not a sequence");
  // Two integers of at most 33 bytes never need a long-form length, so one length byte says it all.
  if (bytes[1] !== bytes.length - 2) throw malformed("wrong length");
  const rs = new Uint8Array(64);
  const middle = readInteger(bytes, 2, rs, 32, isStrict);
  const end = readInteger(bytes, middle, rs, 64, isStrict);
  if (end !== bytes.length) throw malformed("trailing bytes");
  return rs;
}

/** Copies the integer at `at` into `out` so that it stops before `stop`, and returns where it ended. */
function readInteger(bytes: Uint8Array, at: number, out: Uint8Array, stop: number, isStrict: boolean): number {
  const length = bytes[at + 1] ?? 0;
  const start = at + 2;
  const end = start + length;
  if (bytes[at] !== integerTag) throw malformed("not an integer");
  if (length < 1 || length > 33 || end > bytes.length) throw malformed("wrong integer length");
  const first = bytes[start] ?? 0;
  if (first > 0x7f) throw malformed("negative integer");
  if (isStrict && first === 0 && length > 1 && (bytes[start + 1] ?? 0) < 0x80) throw malformed("superfluous zero");
  if (length === 33 && first !== 0) throw malformed("integer over 32 bytes");
  const digits = Math.min(length, 32);
  for (let i = 1; i <= digits; i++) out[stop - i] = bytes[end - i] ?? 0;
  return end;
}

/** Writes r‖s as minimal DER, the only form every verifier takes. */
export function toEcdsaDer(rs: Uint8Array): Uint8Array<ArrayBuffer> {
  if (rs.length !== 64) throw new Fault("internal", `r‖s has 64 bytes, got ${rs.length}`);
  const r = minimalInteger(rs.subarray(0, 32));
  const s = minimalInteger(rs.subarray(32));
  return Uint8Array.of(sequenceTag, r.length + s.length + 4, integerTag, r.length, ...r, integerTag, s.length, ...s);
}

function minimalInteger(value: Uint8Array): number[] {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start++;
  const digits = Array.from(value.subarray(start));
  return (digits[0] ?? 0) > 0x7f ? [0, ...digits] : digits;
}

/**
 * RSA public keys: which ones are taken, and the one spelling under which they are stored and shown, SubjectPublicKeyInfo
 * in DER. Verification itself comes from the platform (`Rs256` below); nothing here computes with the numbers.
 */
import { sameBytes } from "../encoding/bytes.ts";
import { Fault } from "../fault.ts";

/** RSASSA-PKCS1-v1_5 with SHA-256. It answers false on any bad input and never throws. */
export type Rs256 = {
  /** Key: as `toSpki` writes it. Signature: exactly as long as the modulus. */
  verifyRs256(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
};

/** Big-endian, without leading zeros. */
export type RsaPublicKey = { modulus: Uint8Array; exponent: Uint8Array };

const minModulusBits = 2048;
/** Verification costs the square of the length, and the signature goes into the log. No authenticator has more. */
const maxModulusBits = 4096;
/** 65537. Every authenticator and issuer uses it; a larger one would make verification dearer for everybody else. */
const onlyExponent = Uint8Array.of(1, 0, 1);

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed public key: ${why}`);
}

/** Throws `invalid_argument` unless the key is one that is safe to trust. */
export function checkRsaPublicKey({ modulus, exponent }: RsaPublicKey): void {
  if (modulus[0] === 0 || exponent[0] === 0) throw malformed("an RSA number with leading zeros");
  const bits = bitLength(modulus);
  if (bits < minModulusBits || bits > maxModulusBits) {
    throw malformed(`an RSA modulus has ${minModulusBits} to ${maxModulusBits} bits, this one has ${bits}`);
  }
  if (isEven(modulus)) throw malformed("an RSA modulus that is even");
  if (!sameBytes(exponent, onlyExponent)) throw malformed("an RSA exponent other than 65537");
}

function bitLength(bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : 8 * bytes.length - (Math.clz32(bytes[0] ?? 0) - 24);
}

function isEven(bytes: Uint8Array): boolean {
  return ((bytes.at(-1) ?? 0) & 1) === 0;
}

/** AlgorithmIdentifier of rsaEncryption, 1.2.840.113549.1.1.1, with its NULL (RFC 3279, section 2.3.1). */
const rsaEncryption = Uint8Array.of(0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0);

/** Writes the key as SubjectPublicKeyInfo. */
export function toSpki({ modulus, exponent }: RsaPublicKey): Uint8Array<ArrayBuffer> {
  const numbers = element(0x30, positiveInteger(modulus), positiveInteger(exponent));
  return element(0x30, rsaEncryption, element(0x03, Uint8Array.of(0), numbers));
}

/** Reads what `toSpki` wrote, and nothing else: it throws `invalid_argument` on every other spelling. */
export function fromSpki(spki: Uint8Array): RsaPublicKey {
  // All but the two numbers is fixed by their lengths: they are taken from where they must be, and written again.
  const numbers = spki.subarray(4 + rsaEncryption.length + 5);
  const modulusAt = 4;
  const modulusLength = ((numbers[6] ?? 0) << 8) | (numbers[7] ?? 0);
  const modulus = withoutZeros(numbers.subarray(modulusAt + 4, modulusAt + 4 + modulusLength));
  const exponent = withoutZeros(numbers.subarray(modulusAt + 4 + modulusLength + 2));
  const key = { modulus: modulus.slice(), exponent: exponent.slice() };
  if (!sameBytes(toSpki(key), spki)) throw malformed("not an RSA key as it is stored");
  return key;
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? bytes.subarray(bytes.length) : bytes.subarray(first);
}

function positiveInteger(value: Uint8Array): Uint8Array<ArrayBuffer> {
  return (value[0] ?? 0) > 0x7f ? element(0x02, Uint8Array.of(0), value) : element(0x02, value);
}

function element(tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  const out = new Uint8Array(head.length + length);
  out.set(head);
  let at = head.length;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** COSE_Sign1 (RFC 9052, section 4.2) with ES384, in the one form that attestation documents have: no tag, no open headers. */
import { sameBytes } from "../encoding/bytes.ts";
import { type CborValue, fromCbor, isCborMap } from "../encoding/cbor.ts";
import { toCbor } from "../encoding/cbor_writer.ts";
import { Fault } from "../fault.ts";
import { type P384, type P384Signer, p384SignatureLength } from "./p384.ts";

/** RFC 9053, section 2.1: header parameter 1 is the algorithm, -35 is ES384. */
const es384Header = toCbor(new Map([[1, -35]]));

export type CoseSign1 = { protectedHeader: Uint8Array; payload: Uint8Array; signature: Uint8Array };

/** The bytes that a COSE_Sign1 signs. `external` is data that both sides know and that is not sent. */
export function coseSignedBytes(
  protectedHeader: Uint8Array,
  payload: Uint8Array,
  external: Uint8Array = new Uint8Array(),
): Uint8Array<ArrayBuffer> {
  return toCbor(["Signature1", protectedHeader, external, payload]);
}

export function writeCoseSign1(signer: P384Signer, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const signature = signer.sign(coseSignedBytes(es384Header, payload));
  return toCbor([es384Header, new Map(), payload, signature]);
}

/** Reads the four parts. Whether the signature holds is asked with a key, which lies in the payload. */
export function readCoseSign1(bytes: Uint8Array): CoseSign1 {
  const parts = fromCbor(bytes);
  if (!Array.isArray(parts) || parts.length !== 4) throw malformed("not an array of four");
  const [protectedHeader, open, payload, signature] = parts as readonly CborValue[];
  if (!(protectedHeader instanceof Uint8Array) || !sameBytes(protectedHeader, es384Header)) {
    throw malformed("the protected header is not that of ES384");
  }
  if (!isCborMap(open) || open.size > 0) throw malformed("an unprotected header");
  if (!(payload instanceof Uint8Array)) throw malformed("no payload");
  if (!(signature instanceof Uint8Array) || signature.length !== p384SignatureLength) throw malformed("no signature");
  return { protectedHeader, payload, signature };
}

export function verifyCoseSign1(
  curve: P384,
  publicKey: Uint8Array,
  { protectedHeader, payload, signature }: CoseSign1,
): boolean {
  return curve.verifyP384(publicKey, coseSignedBytes(protectedHeader, payload), signature);
}

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed COSE_Sign1: ${why}`);
}

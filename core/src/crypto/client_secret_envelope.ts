/**
 * The envelope that clients encrypt OAuth 2.0 client secrets in. The published client fixes it, and it is not HPKE: SPEC.md has the bytes.
 * It says nothing about who sealed it; the stamp over the request does.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { Fault } from "../fault.ts";
import type { HpkePrimitives } from "./hpke.ts";

const nonceLength = 12;
const pointLength = 65;
const tagLength = 16;
/** The length of the ciphertext, four bytes, stands before it. */
const headLength = nonceLength + pointLength + 4;
const keyLength = 32;

const message = new TextEncoder().encode("qos_encryption_hmac_message");

type Agreement<Key> = Pick<HpkePrimitives<Key>, "publicKey" | "agree">;

/** Opens an envelope that was sealed to this key; throws `invalid_argument` for all else. The caller wipes the secret. */
export function openClientSecret<Key>(
  primitives: Agreement<Key> & Pick<HpkePrimitives<Key>, "decrypt">,
  recipientKey: Key,
  envelope: Uint8Array,
): Uint8Array {
  const ciphertext = envelope.subarray(headLength);
  const length = new DataView(envelope.buffer, envelope.byteOffset, envelope.byteLength);
  if (envelope.length < headLength + tagLength || length.getUint32(headLength - 4, true) !== ciphertext.length) {
    throw new Fault("invalid_argument", "malformed envelope");
  }
  const nonce = envelope.subarray(0, nonceLength);
  const ephemeral = envelope.subarray(nonceLength, nonceLength + pointLength);
  if (ephemeral[0] !== 0x04) throw new Fault("invalid_argument", "malformed envelope");
  const recipient = primitives.publicKey(recipientKey);
  const key = messageKey(primitives, recipientKey, ephemeral, { ephemeral, recipient });
  try {
    return primitives.decrypt(key, nonce, additionalData({ ephemeral, recipient }), ciphertext);
  } finally {
    key.fill(0);
  }
}

/** Seals a secret as the published client does. `nonce` is 12 random bytes. */
export function sealClientSecret<Key>(
  primitives: Agreement<Key> & Pick<HpkePrimitives<Key>, "generateKey" | "encrypt" | "uncompressPoint">,
  recipientPublicKey: Uint8Array,
  nonce: Uint8Array,
  secret: Uint8Array,
): Uint8Array {
  const recipient = primitives.uncompressPoint(recipientPublicKey);
  const ephemeralKey = primitives.generateKey();
  const ephemeral = primitives.publicKey(ephemeralKey);
  const key = messageKey(primitives, ephemeralKey, recipient, { ephemeral, recipient });
  try {
    const ciphertext = primitives.encrypt(key, nonce, additionalData({ ephemeral, recipient }), secret);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, ciphertext.length, true);
    return concatBytes(nonce, ephemeral, length, ciphertext);
  } finally {
    key.fill(0);
  }
}

/** Both as uncompressed points. */
type Points = { ephemeral: Uint8Array; recipient: Uint8Array };

function messageKey<Key>(
  primitives: Agreement<Key>,
  own: Key,
  theirs: Uint8Array,
  { ephemeral, recipient }: Points,
): Uint8Array {
  const shared = primitives.agree(own, theirs);
  const secret = concatBytes(ephemeral, recipient, shared);
  const digest = hmac(sha512, secret, message);
  const key = digest.slice(0, keyLength);
  for (const bytes of [shared, secret, digest]) bytes.fill(0);
  return key;
}

function additionalData({ ephemeral, recipient }: Points): Uint8Array {
  return concatBytes(ephemeral, Uint8Array.of(pointLength), recipient, Uint8Array.of(pointLength));
}

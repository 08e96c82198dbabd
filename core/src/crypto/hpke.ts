/**
 * HPKE (RFC 9180) in the one form that the wire has: base mode, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, and
 * one message for each ephemeral key, so that there is no sequence number. Every bundle travels in it; SPEC.md has the bytes.
 * Base mode says nothing about who sent a message: what must have an author is signed around it (bundles.ts).
 */
import { extract } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";

/**
 * What HPKE needs from a platform. `Key` is however it holds a P-256 private key; `Bytes` is a promise where its AES is
 * asynchronous, as in browsers. Malformed keys, points and ciphertexts throw `invalid_argument`, and so does a wrong tag.
 */
export type HpkePrimitives<Key, Bytes extends Uint8Array | Promise<Uint8Array> = Uint8Array> = {
  generateKey(): Key;
  /** From the 32 bytes of a scalar in [1, n-1]. */
  importKey(privateKey: Uint8Array): Key;
  /** The 32 bytes: a target that waits for its message is kept sealed. */
  exportKey(key: Key): Uint8Array;
  /** 65 bytes. */
  publicKey(key: Key): Uint8Array;
  /** The 65-byte form of a point given in 33 or 65 bytes, if it lies on the curve. */
  uncompressPoint(publicKey: Uint8Array): Uint8Array;
  /** The X coordinate that both sides arrive at, 32 bytes. */
  agree(key: Key, publicKey: Uint8Array): Uint8Array;
  hkdf(ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Uint8Array;
  /** AES-256-GCM; the tag's 16 bytes stand last. Both copy the key before they return, for the caller wipes it then. */
  encrypt(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Bytes;
  decrypt(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, ciphertext: Uint8Array): Bytes;
};

/** The part of the primitives that derives keys; the same on every platform. */
type Derivation<Key> = Pick<
  HpkePrimitives<Key, Uint8Array | Promise<Uint8Array>>,
  "publicKey" | "uncompressPoint" | "agree" | "hkdf"
>;

/** One message's AES key and nonce, and the two points they are bound to. */
export type MessageKey = { enc: Uint8Array; recipient: Uint8Array; key: Uint8Array; nonce: Uint8Array };

const utf8 = new TextEncoder();
const empty = new Uint8Array(0);
const version = utf8.encode("HPKE-v1");
const kemSuite = Uint8Array.of(...utf8.encode("KEM"), 0x00, 0x10);
const suite = Uint8Array.of(...utf8.encode("HPKE"), 0x00, 0x10, 0x00, 0x01, 0x00, 0x02);
const baseMode = 0x00;

/** Fixed by the published clients; it separates these messages from those of every other user of HPKE. */
const wireInfo = utf8.encode("turnkey_hpke");

/** Encrypts one message to a public key (33 or 65 bytes), under a key made for it alone. */
export function sealMessage<Key, Bytes extends Uint8Array | Promise<Uint8Array>>(
  primitives: HpkePrimitives<Key, Bytes>,
  recipientPublicKey: Uint8Array,
  plaintext: Uint8Array,
): { enc: Uint8Array; ciphertext: Bytes } {
  const message = senderKey(primitives, primitives.generateKey(), recipientPublicKey, wireInfo);
  try {
    const ciphertext = primitives.encrypt(message.key, message.nonce, wireAad(message), plaintext);
    return { enc: message.enc, ciphertext };
  } finally {
    message.key.fill(0);
  }
}

/** Opens what `sealMessage` or a published client sealed to this key; throws `invalid_argument` for all else. */
export function openMessage<Key, Bytes extends Uint8Array | Promise<Uint8Array>>(
  primitives: HpkePrimitives<Key, Bytes>,
  recipientKey: Key,
  enc: Uint8Array,
  ciphertext: Uint8Array,
): Bytes {
  const message = recipientMessageKey(primitives, recipientKey, enc, wireInfo);
  try {
    return primitives.decrypt(message.key, message.nonce, wireAad(message), ciphertext);
  } finally {
    message.key.fill(0);
  }
}

/** The clients authenticate both points a second time, though the key schedule binds them already. */
function wireAad({ enc, recipient }: MessageKey): Uint8Array {
  return concatBytes(enc, recipient);
}

/** RFC 9180 `SetupBaseS` with a given ephemeral key; apart from vectors, every message needs a fresh one. */
export function senderKey<Key>(
  primitives: Derivation<Key>,
  ephemeralKey: Key,
  recipientPublicKey: Uint8Array,
  info: Uint8Array,
): MessageKey {
  const recipient = primitives.uncompressPoint(recipientPublicKey);
  const enc = primitives.publicKey(ephemeralKey);
  return deriveKey(primitives, primitives.agree(ephemeralKey, recipient), enc, recipient, info);
}

/** RFC 9180 `SetupBaseR`. */
export function recipientMessageKey<Key>(
  primitives: Derivation<Key>,
  recipientKey: Key,
  encapsulated: Uint8Array,
  info: Uint8Array,
): MessageKey {
  const enc = primitives.uncompressPoint(encapsulated);
  const recipient = primitives.publicKey(recipientKey);
  return deriveKey(primitives, primitives.agree(recipientKey, enc), enc, recipient, info);
}

/** `ExtractAndExpand` of the KEM, then `KeySchedule`. Each labelled pair of extract and expand is one HKDF. */
function deriveKey(
  { hkdf }: Pick<Derivation<unknown>, "hkdf">,
  dh: Uint8Array,
  enc: Uint8Array,
  recipient: Uint8Array,
  info: Uint8Array,
): MessageKey {
  const ikm = labelled(kemSuite, "eae_prk", dh);
  const kemContext = concatBytes(enc, recipient);
  const sharedSecret = hkdf(ikm, empty, expansion(kemSuite, "shared_secret", kemContext, 32), 32);
  const context = keyScheduleContext(info);
  const secret = labelled(suite, "secret", empty);
  const key = hkdf(secret, sharedSecret, expansion(suite, "key", context, 32), 32);
  const nonce = hkdf(secret, sharedSecret, expansion(suite, "base_nonce", context, 12), 12);
  for (const spent of [dh, ikm, sharedSecret]) spent.fill(0);
  return { enc, recipient, key, nonce };
}

/** Public from first to last, so it needs no platform. */
export function keyScheduleContext(info: Uint8Array): Uint8Array {
  const pskIdHash = extract(sha256, labelled(suite, "psk_id_hash", empty), empty);
  const infoHash = extract(sha256, labelled(suite, "info_hash", info), empty);
  return Uint8Array.of(baseMode, ...pskIdHash, ...infoHash);
}

function labelled(suiteId: Uint8Array, label: string, ikm: Uint8Array): Uint8Array {
  return concatBytes(version, suiteId, utf8.encode(label), ikm);
}

function expansion(suiteId: Uint8Array, label: string, info: Uint8Array, length: number): Uint8Array {
  return concatBytes(Uint8Array.of(length >> 8, length & 0xff), version, suiteId, utf8.encode(label), info);
}

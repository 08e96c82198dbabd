/**
 * Bundles: how a secret leaves for a client's key and how one comes in. The encryption is HPKE (hpke.ts); around it a
 * service key signs which organization, and which user, the bundle was made for. SPEC.md has the bytes.
 * No secret is ever text here: plaintexts are byte arrays, and what becomes JSON is public keys and ciphertext.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { toBase58check } from "../encoding/base58.ts";
import { toEcdsaDer } from "../encoding/der.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";
import { type HpkePrimitives, openMessage, sealMessage } from "./hpke.ts";

/** The service key that clients pin. */
export type BundleSigner = {
  /** 65 bytes. */
  publicKey: Uint8Array;
  /** ECDSA P-256 over SHA-256 of the message, as r‖s. */
  sign(message: Uint8Array): Uint8Array;
};

const bundleVersion = "v1.0.0";
const utf8 = new TextEncoder();

/** A document and who has signed it. Clients compare the signer's key as text, so its case matters as well. */
export function signedBundle(signer: BundleSigner, data: Readonly<Record<string, string>>): string {
  const signed = utf8.encode(JSON.stringify(data));
  return JSON.stringify({
    version: bundleVersion,
    data: toHex(signed),
    dataSignature: toHex(toEcdsaDer(signer.sign(signed))),
    enclaveQuorumPublic: toHex(signer.publicKey),
  });
}

/** Reads the key that a client wants its export for: 66 or 130 hex digits, `0x` or not. Returns its 65 bytes. */
export function parseTargetPublicKey(
  primitives: Pick<HpkePrimitives<unknown>, "uncompressPoint">,
  targetPublicKey: string,
): Uint8Array {
  try {
    return primitives.uncompressPoint(fromHex(targetPublicKey.replace(/^0x/, "")));
  } catch (cause) {
    throw new Fault(
      "invalid_argument",
      "invalid target public key: expected the 66 or 130 hex digits of a point of P-256",
      { cause },
    );
  }
}

export type Export = {
  /** The organization that owns the secret: clients refuse a bundle that names another. */
  organizationId: string;
  targetPublicKey: Uint8Array;
  /** A wallet's text (`keys/wallet_text.ts`), or the 32 bytes of a private key. Stays the caller's to wipe. */
  plaintext: Uint8Array;
};

/** The `exportBundle` of export_wallet, export_wallet_account and export_private_key. */
export function makeExportBundle<Key>(
  primitives: HpkePrimitives<Key>,
  signer: BundleSigner,
  { organizationId, targetPublicKey, plaintext }: Export,
): string {
  const target = primitives.uncompressPoint(targetPublicKey);
  // Our own key is public as well: a secret sealed to it would lie in the answer for whoever holds the root key.
  if (toHex(target) === toHex(signer.publicKey)) {
    throw new Fault("invalid_argument", "invalid target public key: this is a key of the server itself");
  }
  const { enc, ciphertext } = sealMessage(primitives, target, plaintext);
  return signedBundle(signer, { encappedPublic: toHex(enc), ciphertext: toHex(ciphertext), organizationId });
}

/**
 * The `credentialBundle` of a session: the 32 bytes of its private key, encrypted to the client's key. It is not signed, and no client
 * pins anything to open it. The private key stays the caller's to wipe.
 */
export function makeCredentialBundle<Key>(
  primitives: HpkePrimitives<Key>,
  targetPublicKey: Uint8Array,
  privateKey: Uint8Array,
): string {
  const { enc, ciphertext } = sealMessage(primitives, targetPublicKey, privateKey);
  // The KEM's 65 bytes without Y, whose parity the first byte tells.
  const compressed = Uint8Array.of(2 + ((enc[64] ?? 0) & 1), ...enc.subarray(1, 33));
  return toBase58check(concatBytes(compressed, ciphertext));
}

export type ImportRecipient = { organizationId: string; userId: string; targetPublicKey: Uint8Array };

/** The `importBundle` of init_import_wallet and init_import_private_key; the target key has 65 bytes. */
export function makeImportTargetBundle(
  signer: BundleSigner,
  { organizationId, userId, targetPublicKey }: ImportRecipient,
): string {
  return signedBundle(signer, { targetPublic: toHex(targetPublicKey), organizationId, userId });
}

/** The longest plaintext we take: a mnemonic of 24 words and a passphrase fit many times. */
const maxImportBytes = 16 * 1024;

/**
 * Opens an `encryptedBundle` with the first of `targets` that fits, and says which one: it is used up now. The bundle does
 * not name its target, so give the pending ones of this organization, user and kind, newest first. Malformed, tampered,
 * for another user and for a used target all answer alike. The caller wipes the plaintext.
 */
export function openImportBundle<Key>(
  primitives: HpkePrimitives<Key>,
  targets: readonly Key[],
  encryptedBundle: string,
): { plaintext: Uint8Array; target: Key } {
  const bundle = refusing(() => parseEncryptedBundle(encryptedBundle, maxImportBytes));
  if (bundle === undefined) throw notOpened();
  for (const target of targets) {
    const plaintext = refusing(() => openMessage(primitives, target, bundle.enc, bundle.ciphertext));
    if (plaintext !== undefined) return { plaintext, target };
  }
  throw notOpened();
}

function notOpened(): Fault {
  const why = "invalid encrypted bundle: it does not open with a pending import of this user, which lasts one use";
  return new Fault("invalid_argument", why);
}

/** Undefined where our own code says that its input is bad; every other error goes on. */
function refusing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return undefined;
    throw error;
  }
}

/** Reads what a client has encrypted to a key of ours, with at most `maxBytes` of ciphertext. Throws `invalid_argument`. */
export function parseEncryptedBundle(
  encryptedBundle: string,
  maxBytes: number,
): { enc: Uint8Array; ciphertext: Uint8Array } {
  const value = readJson(utf8.encode(encryptedBundle), 4 * maxBytes);
  const { encappedPublic, ciphertext } = (value ?? {}) as { encappedPublic?: unknown; ciphertext?: unknown };
  if (typeof encappedPublic !== "string" || typeof ciphertext !== "string") {
    throw new Fault("invalid_argument", "a field is missing or not a string");
  }
  const parsed = { enc: fromHex(encappedPublic), ciphertext: fromHex(ciphertext) };
  // The KEM writes points in 65 bytes only. A second spelling of a bundle would be a second bundle.
  if (parsed.enc.length !== 65) throw new Fault("invalid_argument", "an encapsulated key has 65 bytes");
  if (parsed.ciphertext.length > maxBytes) throw new Fault("invalid_argument", "the ciphertext is too long");
  return parsed;
}

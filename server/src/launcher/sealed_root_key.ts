import { argon2Sync, createCipheriv, createDecipheriv, randomFillSync, timingSafeEqual } from "node:crypto";
import { Refusal } from "./refusal.ts";

// The byte layout is in SPEC.md beside this file.
const magic = new Uint8Array([0x4b, 0x53, 0x52, 0x4b, 1]);
const defaults = { memoryKiB: 65536, passes: 3, lanes: 1 };
const offsets = {
  memory: 5,
  passes: 9,
  lanes: 13,
  salt: 14,
  commitment: 30,
  nonce: 46,
  ciphertext: 58,
  tag: 90,
  end: 106,
};
const leastPassphrase = 8;

/** Seals the root key under a passphrase (argon2id, then AES-256-GCM over every byte before the ciphertext). */
export function sealRootKey(rootKey: Uint8Array, passphrase: Uint8Array): Uint8Array {
  if (passphrase.length < leastPassphrase) {
    throw new Refusal(`the passphrase must have at least ${leastPassphrase} characters`);
  }
  const sealed = new Uint8Array(offsets.end);
  const view = new DataView(sealed.buffer);
  sealed.set(magic);
  view.setUint32(offsets.memory, defaults.memoryKiB);
  view.setUint32(offsets.passes, defaults.passes);
  view.setUint8(offsets.lanes, defaults.lanes);
  randomFillSync(sealed, offsets.salt, offsets.commitment - offsets.salt);
  randomFillSync(sealed, offsets.nonce, offsets.ciphertext - offsets.nonce);
  const { key, commitment, wipe } = stretch(sealed, passphrase);
  try {
    sealed.set(commitment, offsets.commitment);
    const cipher = createCipheriv("aes-256-gcm", key, sealed.subarray(offsets.nonce, offsets.ciphertext));
    cipher.setAAD(sealed.subarray(0, offsets.ciphertext));
    sealed.set(cipher.update(rootKey), offsets.ciphertext);
    cipher.final();
    sealed.set(cipher.getAuthTag(), offsets.tag);
  } finally {
    wipe();
  }
  return sealed;
}

/** Opens a sealed root key; a wrong passphrase and a damaged file are told apart by the commitment. */
export function openRootKey(sealed: Uint8Array, passphrase: Uint8Array): Uint8Array {
  if (sealed.length !== offsets.end || !magic.every((byte, i) => sealed[i] === byte)) {
    throw new Refusal("the sealed root key has an unknown format");
  }
  const { key, commitment, wipe } = stretch(sealed, passphrase);
  try {
    if (!timingSafeEqual(commitment, sealed.subarray(offsets.commitment, offsets.nonce))) {
      throw new Refusal("wrong passphrase for the root key");
    }
    const nonce = sealed.subarray(offsets.nonce, offsets.ciphertext);
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: 16 });
    decipher.setAAD(sealed.subarray(0, offsets.ciphertext));
    decipher.setAuthTag(sealed.subarray(offsets.tag));
    const opened = decipher.update(sealed.subarray(offsets.ciphertext, offsets.tag));
    try {
      decipher.final();
      return Uint8Array.from(opened);
    } catch {
      throw new Refusal("the sealed root key is damaged");
    } finally {
      opened.fill(0);
    }
  } finally {
    wipe();
  }
}

/** Costs come from the file, so that later versions can raise them; bounds keep a forged file from taking all memory or none. */
function stretch(sealed: Uint8Array, passphrase: Uint8Array) {
  const view = new DataView(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const memory = view.getUint32(offsets.memory);
  const passes = view.getUint32(offsets.passes);
  const parallelism = view.getUint8(offsets.lanes);
  if (memory < 65536 || memory > 1048576 || passes < 3 || passes > 64 || parallelism < 1 || parallelism > 16) {
    throw new Refusal("the sealed root key has an unknown format");
  }
  const nonce = sealed.subarray(offsets.salt, offsets.commitment);
  const stretched = argon2Sync("argon2id", { message: passphrase, nonce, parallelism, tagLength: 48, memory, passes });
  return { key: stretched.subarray(0, 32), commitment: stretched.subarray(32), wipe: () => stretched.fill(0) };
}

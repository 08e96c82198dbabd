import { createHmac, hash, hkdfSync, timingSafeEqual } from "node:crypto";

/** SHA-256, one shot. Through a string, because a Buffer from Node costs more than the hash itself. */
export function sha256(bytes: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const text = hash("sha256", bytes, "latin1");
  const digest = new Uint8Array(32);
  for (let i = 0; i < 32; i++) digest[i] = text.charCodeAt(i);
  return digest;
}

export function hmacSha256(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest() as Buffer<ArrayBuffer>;
}

const blockLength = 64;
const shortLength = 4_096;

/**
 * HMAC-SHA-256 (RFC 2104) under a key that is used often. Two one-shot hashes cost a third of Node's Hmac object; the
 * padded key stays in buffers of its own and is never left in shared memory.
 */
export function createMac(key: Uint8Array): (content: Uint8Array) => Uint8Array<ArrayBuffer> {
  if (key.length > blockLength) throw new Error("a MAC key is at most one block long");
  const inner = new Uint8Array(blockLength + shortLength);
  const outer = new Uint8Array(blockLength + 32);
  for (let i = 0; i < blockLength; i++) {
    inner[i] = 0x36 ^ (key[i] ?? 0);
    outer[i] = 0x5c ^ (key[i] ?? 0);
  }
  return (content) => {
    if (content.length > shortLength) return hmacSha256(key, content);
    inner.set(content, blockLength);
    const end = blockLength + content.length;
    outer.set(sha256(inner.subarray(0, end)), blockLength);
    // It may have been a secret, and this buffer stays.
    inner.fill(0, blockLength, end);
    return sha256(outer);
  };
}

/** A key for one purpose; purposes never share a label. */
export function deriveKey(secret: Uint8Array, label: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(0), `keystead/${label}`, 32));
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * A digest as a map key. Short arrays live in V8's own heap until somebody asks for their buffer, which costs as much as the
 * hash did: this never asks.
 */
export function digestKey(bytes: Uint8Array): string {
  return bytes.toHex();
}

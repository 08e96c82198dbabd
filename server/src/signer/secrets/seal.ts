/**
 * Sealing: AES-256-GCM under a key that only this very record has. Layout and reasons: SPEC.md in this folder.
 * The context (purpose, organization, record) goes into the key's derivation and into the authenticated data, each part
 * length-prefixed, so that a sealed value moved to another row, column or organization does not open.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { encode, fixed, struct, text, u8, u32 } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import { equalBytes } from "../../state/digest.ts";

export type SealContext = {
  /** What kind of secret it is: the table and column it belongs to. */
  purpose: string;
  organizationId: string;
  recordId: string;
};

export type Sealer = {
  /** What boxes are sealed under from now on. */
  readonly keyVersion: number;
  seal(context: SealContext, secret: Uint8Array): Uint8Array<ArrayBuffer>;
  /** The caller wipes what comes out. */
  unseal(context: SealContext, box: Uint8Array): Uint8Array;
  /** Whether the key of a box is at hand. One that was replaced since is not. */
  hasKeyOf(box: Uint8Array): boolean;
};

/** Seals under one key; opens under it, and during a rotation also under `retiring`, the one before it. */
export function createSealer(rootKey: Uint8Array, keyVersion: number, retiring?: Uint8Array): Sealer {
  const isRetiring = (box: Uint8Array) => retiring !== undefined && versionOf(box) === keyVersion - 1;
  return {
    keyVersion,
    seal: (context, secret) => seal(rootKey, keyVersion, context, secret),
    unseal: (context, box) =>
      retiring !== undefined && isRetiring(box)
        ? unseal(retiring, keyVersion - 1, context, box)
        : unseal(rootKey, keyVersion, context, box),
    hasKeyOf: (box) => versionOf(box) === keyVersion || isRetiring(box),
  };
}

/** The version of the root key that a box names. What is too short to be one names none. */
export function versionOf(box: Uint8Array): number | undefined {
  return box.length < headLength ? undefined : new DataView(box.buffer, box.byteOffset).getUint32(1);
}

const format = 1;
const saltLength = 32;
const nonceLength = 12;
const tagLength = 16;
const commitmentLength = 16;
const headLength = 1 + 4 + saltLength + nonceLength;

const contextLayout = struct({
  format: u8,
  keyVersion: u32,
  purpose: text,
  organizationId: text,
  recordId: text,
  salt: fixed(saltLength),
});

function contextBytes(context: SealContext, keyVersion: number, salt: Uint8Array): Uint8Array<ArrayBuffer> {
  return encode(contextLayout, { format, keyVersion, ...context, salt });
}

/** 32 bytes of key and 16 of commitment: a blob opens under one key only, not merely under one that fits the tag. */
function recordKey(rootKey: Uint8Array, context: Uint8Array<ArrayBuffer>): { key: Uint8Array; commitment: Uint8Array } {
  const okm = new Uint8Array(hkdfSync("sha256", rootKey, new Uint8Array(0), context, 32 + commitmentLength));
  return { key: okm.subarray(0, 32), commitment: okm.subarray(32) };
}

export function seal(
  rootKey: Uint8Array,
  keyVersion: number,
  context: SealContext,
  secret: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const random = randomBytes(saltLength + nonceLength);
  const salt = random.subarray(0, saltLength);
  const nonce = random.subarray(saltLength);
  const bound = contextBytes(context, keyVersion, salt);
  const { key, commitment } = recordKey(rootKey, bound);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  cipher.setAAD(bound);
  const box = new Uint8Array(headLength + secret.length + tagLength + commitmentLength);
  box[0] = format;
  new DataView(box.buffer).setUint32(1, keyVersion);
  box.set(random, 5);
  box.set(cipher.update(secret), headLength);
  cipher.final();
  box.set(cipher.getAuthTag(), headLength + secret.length);
  box.set(commitment, headLength + secret.length + tagLength);
  key.fill(0);
  return box;
}

/** Opens what `seal` made for the same context; everything else is refused with one answer. */
export function unseal(rootKey: Uint8Array, keyVersion: number, context: SealContext, box: Uint8Array): Uint8Array {
  const refusal = () =>
    new Fault("internal", "a sealed record does not open", { detail: `${context.purpose} ${context.recordId}` });
  const secretLength = box.length - headLength - tagLength - commitmentLength;
  if (secretLength < 0 || box[0] !== format) throw refusal();
  if (versionOf(box) !== keyVersion) throw refusal();
  const salt = box.subarray(5, 5 + saltLength);
  const bound = contextBytes(context, keyVersion, salt);
  const { key, commitment } = recordKey(rootKey, bound);
  if (!equalBytes(commitment, box.subarray(headLength + secretLength + tagLength))) throw refusal();
  const decipher = createDecipheriv("aes-256-gcm", key, box.subarray(5 + saltLength, headLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(bound);
  decipher.setAuthTag(box.subarray(headLength + secretLength, headLength + secretLength + tagLength));
  try {
    const secret = decipher.update(box.subarray(headLength, headLength + secretLength));
    decipher.final();
    return secret;
  } catch {
    throw refusal();
  } finally {
    key.fill(0);
  }
}

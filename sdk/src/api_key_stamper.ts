import { type ApiKeyCurve, normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { parseStamp, type StampScheme } from "@keystead/core/crypto/stamp.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import type { Stamper } from "./stamper.ts";

export type ApiKeyStamperOptions = {
  /** Hex, compressed or not: what the organization knows the key by. Left out, it is computed from the private key. */
  apiPublicKey?: string | undefined;
  /** Hex, or the bytes themselves. The bytes are copied: wipe yours when you like. */
  apiPrivateKey: string | Uint8Array;
  curve?: ApiKeyCurve;
};

const schemes = {
  API_KEY_CURVE_P256: "SIGNATURE_SCHEME_TK_API_P256",
  API_KEY_CURVE_SECP256K1: "SIGNATURE_SCHEME_TK_API_SECP256K1",
  API_KEY_CURVE_ED25519: "SIGNATURE_SCHEME_TK_API_ED25519",
} as const satisfies Record<ApiKeyCurve, StampScheme>;

/** Stamps with an API key. A private key that does not belong to the public key is refused here, not at the first request. */
export function createApiKeyStamper({
  apiPublicKey,
  apiPrivateKey,
  curve = "API_KEY_CURVE_P256",
}: ApiKeyStamperOptions): Stamper {
  const scheme = schemes[curve];
  const privateKey = parsePrivateKey(apiPrivateKey);
  const publicKey = publicKeyOf(privateKey, scheme);
  if (apiPublicKey !== undefined && publicKey !== normalisePublicKey(nobleCurves, curve, apiPublicKey)) {
    throw new Error("the API private key does not belong to the API public key");
  }
  return { stamp: (body) => ({ name: "X-Stamp", value: signStamp(privateKey, scheme, body) }) };
}

/** A new key pair, both halves in hex, from the platform's source of randomness. Nothing of it leaves this process. */
export function generateApiKey(curve: ApiKeyCurve = "API_KEY_CURVE_P256"): {
  apiPublicKey: string;
  apiPrivateKey: string;
  curve: ApiKeyCurve;
} {
  for (;;) {
    const privateKey = crypto.getRandomValues(new Uint8Array(32));
    try {
      return { apiPublicKey: publicKeyOf(privateKey, schemes[curve]), apiPrivateKey: toHex(privateKey), curve };
    } catch {
      // Once in 2^32 a number is beyond the order of P-256; then another one.
    }
  }
}

function publicKeyOf(privateKey: Uint8Array, scheme: StampScheme): string {
  return parseStamp(nobleCurves, sign(privateKey, scheme, new Uint8Array(0))).publicKey;
}

/** All three curves have 32-byte private keys. The messages never repeat the key. */
function parsePrivateKey(key: string | Uint8Array | undefined): Uint8Array {
  // A program that reads its key from a file without one comes here with nothing, whatever its types say.
  if (key === undefined) throw new Error("there is no API private key");
  let bytes: Uint8Array;
  try {
    bytes = typeof key === "string" ? fromHex(key) : Uint8Array.from(key);
  } catch {
    throw new Error("the API private key is not hex");
  }
  if (bytes.length !== 32) throw new Error(`the API private key has ${bytes.length} bytes instead of 32`);
  return bytes;
}

function sign(privateKey: Uint8Array, scheme: StampScheme, body: Uint8Array): string {
  try {
    return signStamp(privateKey, scheme, body);
  } catch {
    throw new Error("the API private key is not a key of its curve");
  }
}

/** API keys that tests make, and how they stamp. */
import { createECDH, randomBytes } from "node:crypto";
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { parseStamp, type StampScheme } from "@keystead/core/crypto/stamp.ts";

export type KeyPair = { curve: ApiKeyCurve; privateKey: Uint8Array; publicKey: string };

/** The scheme each curve's own stamper uses. */
export const schemeOf = {
  API_KEY_CURVE_P256: "SIGNATURE_SCHEME_TK_API_P256",
  API_KEY_CURVE_SECP256K1: "SIGNATURE_SCHEME_TK_API_SECP256K1",
  API_KEY_CURVE_ED25519: "SIGNATURE_SCHEME_TK_API_ED25519",
} as const satisfies Record<ApiKeyCurve, StampScheme>;

export function createKey(curve: ApiKeyCurve = "API_KEY_CURVE_P256"): KeyPair {
  return keyFrom(curve, new Uint8Array(randomBytes(32)));
}

export function keyFrom(curve: ApiKeyCurve, privateKey: Uint8Array): KeyPair {
  return { curve, privateKey, publicKey: publicKeyOf[curve](privateKey) };
}

/** The suites make keys by the hundred, so OpenSSL computes the points. */
const publicKeyOf: Record<ApiKeyCurve, (privateKey: Uint8Array) => string> = {
  API_KEY_CURVE_P256: (privateKey) => compressedPoint("prime256v1", privateKey),
  API_KEY_CURVE_SECP256K1: (privateKey) => compressedPoint("secp256k1", privateKey),
  API_KEY_CURVE_ED25519: (privateKey) => {
    const stamp = signStamp(privateKey, schemeOf.API_KEY_CURVE_ED25519, new Uint8Array(0));
    return parseStamp(nobleCurves, stamp).publicKey;
  },
};

function compressedPoint(curve: "prime256v1" | "secp256k1", privateKey: Uint8Array): string {
  const ecdh = createECDH(curve);
  ecdh.setPrivateKey(privateKey);
  return ecdh.getPublicKey("hex", "compressed");
}

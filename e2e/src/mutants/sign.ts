/** Stamps by the hundred thousand: OpenSSL signs wherever it can. */
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import type { StampScheme } from "@keystead/core/crypto/stamp.ts";
import type { KeyPair } from "../key_pairs.ts";

export type Fields = { publicKey: string; scheme: string; signature: string };

export function signFields({ curve, privateKey, publicKey }: KeyPair, scheme: StampScheme, body: Buffer): Fields {
  if (scheme === "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191") {
    return JSON.parse(Buffer.from(signStamp(privateKey, scheme, body), "base64url").toString("utf8"));
  }
  const key = importKey(curve, privateKey);
  const signature = sign(curve === "API_KEY_CURVE_ED25519" ? null : "sha256", body, key);
  return { publicKey, scheme, signature: signature.toString("hex") };
}

const imported = new WeakMap<Uint8Array, KeyObject>();

function importKey(curve: KeyPair["curve"], privateKey: Uint8Array): KeyObject {
  const known = imported.get(privateKey);
  if (known !== undefined) return known;
  const key = Buffer.from(privateKey);
  const fresh =
    curve === "API_KEY_CURVE_ED25519"
      ? createPrivateKey({ key, format: "raw-private", asymmetricKeyType: "ed25519" })
      : createPrivateKey({
          key,
          format: "raw-private",
          asymmetricKeyType: "ec",
          namedCurve: curve === "API_KEY_CURVE_P256" ? "P-256" : "secp256k1",
        });
  imported.set(privateKey, fresh);
  return fresh;
}

/** What the holder of a verification token's key signs, as published clients write it. */
import { createPrivateKey, sign } from "node:crypto";
import type { KeyPair } from "./key_pairs.ts";

export type ClientSignature = {
  publicKey: string;
  scheme: "CLIENT_SIGNATURE_SCHEME_API_P256";
  message: string;
  signature: string;
};

/** ECDSA over SHA-256 of the text: r and s, 32 bytes each. */
function signText({ privateKey, publicKey }: KeyPair, message: string): ClientSignature {
  const der = Buffer.concat([
    Buffer.from("30310201010420", "hex"),
    privateKey,
    Buffer.from("a00a06082a8648ce3d030107", "hex"),
  ]);
  const key = createPrivateKey({ key: der, format: "der", type: "sec1" });
  const signature = sign("sha256", Buffer.from(message), { key, dsaEncoding: "ieee-p1363" }).toString("hex");
  return { publicKey, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", message, signature };
}

/** That the token is used to sign in with this key. */
export function signLogin(holder: KeyPair, token: string, publicKey: string): ClientSignature {
  return signText(
    holder,
    JSON.stringify({ login: { publicKey }, tokenId: tokenIdOf(token), type: "USAGE_TYPE_LOGIN" }),
  );
}

function tokenIdOf(token: string): string {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).id;
}

/** That the token is used to sign up with these credentials. */
export function signSignUp(holder: KeyPair, token: string, signupV2: object): ClientSignature {
  return signText(holder, JSON.stringify({ signupV2, tokenId: tokenIdOf(token), type: "USAGE_TYPE_SIGNUP" }));
}

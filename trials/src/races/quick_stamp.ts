/** Stamps by OpenSSL: the harness makes them by the hundred thousand, and the SDK's own take fifty times as long. */
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { type KeyPair, schemeOf } from "@keystead/e2e/key_pairs.ts";

const opened = new WeakMap<KeyPair, KeyObject>();

/** The head of a P-256 private key in SEC 1, before and after its 32 bytes. */
const [sec1Head, sec1Curve] = ["30310201010420", "a00a06082a8648ce3d030107"];

function open(key: KeyPair): KeyObject {
  const known = opened.get(key);
  if (known !== undefined) return known;
  if (key.curve !== "API_KEY_CURVE_P256") throw new Error(`no quick stamp of ${key.curve}`);
  const hex = sec1Head + Buffer.from(key.privateKey).toString("hex") + sec1Curve;
  const made = createPrivateKey({ key: Buffer.from(hex, "hex"), format: "der", type: "sec1" });
  opened.set(key, made);
  return made;
}

/** The `X-Stamp` header over these bytes. */
export function quickStamp(key: KeyPair, body: Uint8Array): string {
  const signature = sign("sha256", body, open(key)).toString("hex");
  const stamp = { publicKey: key.publicKey, scheme: schemeOf[key.curve], signature };
  return toBase64url(Buffer.from(JSON.stringify(stamp)));
}

/** ECDSA over SHA-256 of a text, as users sign what a verification token is used for: both numbers, in hex. */
export function quickSignature(key: KeyPair, text: string): string {
  return sign("sha256", Buffer.from(text), { key: open(key), dsaEncoding: "ieee-p1363" }).toString("hex");
}

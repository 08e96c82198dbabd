/** The cryptography that a sign-up with a wallet, and a login by an identity token, cannot do without: CPU microseconds of this process. */
import { createECDH, generateKeyPairSync, pbkdf2Sync, randomBytes, sign, verify } from "node:crypto";
import { measureUs } from "./baselines.ts";

/**
 * What a wallet with one Ethereum account computes at least: the seed of its words, which is 2,048 rounds of PBKDF2 on SHA-512, and three
 * public keys on secp256k1, of the account and of the two steps above it that are not hardened. A passkey that comes without an attestation
 * has nothing to verify.
 */
export function bareSignUpUs(seconds: number): number {
  const words = randomBytes(120).toString("hex");
  const pair = createECDH("secp256k1");
  const secret = randomBytes(32).fill(1, 0, 1);
  const seedUs = measureUs(seconds, () => pbkdf2Sync(words, "mnemonic", 2_048, 64, "sha512"));
  const publicKeyUs = measureUs(seconds, () => pair.setPrivateKey(secret));
  return seedUs + 3 * publicKeyUs;
}

/** The stamp and the token, an RS256 one, are verified, and the session is signed. */
export function bareIdentityLoginUs(seconds: number): number {
  const message = randomBytes(300);
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const stamp = sign("sha256", message, key.privateKey);
  const token = sign("sha256", message, issuer.privateKey);
  const stampUs = measureUs(seconds, () => verify("sha256", message, key.publicKey, stamp));
  const tokenUs = measureUs(seconds, () => verify("sha256", message, issuer.publicKey, token));
  const sessionUs = measureUs(seconds, () => sign("sha256", message, key.privateKey));
  return stampUs + tokenUs + sessionUs;
}

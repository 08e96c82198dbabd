/** CPU time of sign-ups, beside the cryptography that a sign-up with a wallet cannot do without. */
import { createECDH, pbkdf2Sync, randomBytes } from "node:crypto";
import { measureUs } from "../../../bench/src/baselines.ts";
import type { ServerCpu } from "../codes/login_cost.ts";

/**
 * What a wallet with one Ethereum account computes at least: the seed of its words, which is 2,048 rounds of PBKDF2 on SHA-512, and three
 * public keys on secp256k1, of the account and of the two steps above it that are not hardened. A passkey that comes without an attestation
 * has nothing to verify.
 */
const needed = { seeds: 1, publicKeys: 3 } as const;

/** In microseconds, measured in this process. */
export function bareSignUpUs(seconds = 0.3): number {
  const words = randomBytes(120).toString("hex");
  const pair = createECDH("secp256k1");
  const secret = randomBytes(32).fill(1, 0, 1);
  const seedUs = measureUs(seconds, () => pbkdf2Sync(words, "mnemonic", 2_048, 64, "sha512"));
  const publicKeyUs = measureUs(seconds, () => pair.setPrivateKey(secret));
  return needed.seeds * seedUs + needed.publicKeys * publicKeyUs;
}

export function signUpCostText(before: ServerCpu, after: ServerCpu, signUps: number): string {
  const eachUs = (role: keyof ServerCpu) => ((after[role] - before[role]) * 1000) / signUps;
  const bareUs = bareSignUpUs();
  const [gatewayUs, signerUs] = [eachUs("gateway"), eachUs("signer")];
  return (
    `CPU per sign-up: gateway ${gatewayUs.toFixed(0)} µs, signer ${signerUs.toFixed(0)} µs; bare cryptography of a sign-up with a wallet ` +
    `${bareUs.toFixed(0)} µs; both are ${((gatewayUs + signerUs) / bareUs).toFixed(1)} times that, the signer ` +
    `${(signerUs / bareUs).toFixed(1)} times`
  );
}

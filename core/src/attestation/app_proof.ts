/** App proofs, as far as checking them goes: a text that was signed with the ephemeral key of one start. */
import type { Curves } from "../crypto/curves.ts";
import { fromHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { ephemeralKeyLength } from "./attestation_document.ts";

export const appProofScheme = "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256";

export type AppProof = {
  scheme: string;
  /** 130 bytes in hex: encryption key, then signing key. */
  publicKey: string;
  proofPayload: string;
  /** r‖s, 64 bytes in hex, over SHA-256 of the payload's UTF-8. */
  signature: string;
};

/** Throws `invalid_argument` with what is wrong. Returns the ephemeral key that it is signed with. */
export function verifyAppProof(curves: Pick<Curves, "verifyP256" | "compressPoint">, proof: AppProof): Uint8Array {
  if (proof.scheme !== appProofScheme) throw bad("it has an unknown scheme");
  if (!/^[0-9a-f]+$/.test(proof.publicKey) || !/^[0-9a-f]+$/.test(proof.signature)) throw bad("not lower-case hex");
  const publicKey = fromHex(proof.publicKey);
  const signature = fromHex(proof.signature);
  if (publicKey.length !== ephemeralKeyLength || signature.length !== 64) {
    throw bad("its key or its signature has a wrong length");
  }
  const signingKey = curves.compressPoint("p256", publicKey.subarray(ephemeralKeyLength / 2));
  if (!curves.verifyP256(signingKey, new TextEncoder().encode(proof.proofPayload), signature)) {
    throw bad("its signature does not hold");
  }
  return publicKey;
}

function bad(why: string): Fault {
  return new Fault("invalid_argument", `bad app proof: ${why}`);
}

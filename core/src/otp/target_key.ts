/**
 * The key that an answer to a code is encrypted to. Like the code it derives from a secret and the code's id, so none is stored and every
 * host can open the answer. It may be used several times: a user who mistypes tries again with the same bundle.
 */
import { type BundleSigner, signedBundle } from "../crypto/bundles.ts";
import type { HpkePrimitives } from "../crypto/hpke.ts";
import { toHex } from "../encoding/hex.ts";
import { encode, fixed, struct, u32 } from "../encoding/layout.ts";
import { generatePrivateKey } from "../keys/key_curves.ts";
import type { KeyedHash } from "./one_time_code.ts";

const targetLayout = struct({ otpId: fixed(16), block: u32 });

/** Its secret is another than that of codes: who knew a code would learn nothing about the key. */
export function deriveTargetKey<Key>(
  { importKey }: Pick<HpkePrimitives<Key>, "importKey">,
  keyedHash: KeyedHash,
  otpId: Uint8Array,
): Key {
  let block = 0;
  const scalar = generatePrivateKey("CURVE_P256", () => keyedHash(encode(targetLayout, { otpId, block: block++ })));
  try {
    return importKey(scalar);
  } finally {
    scalar.fill(0);
  }
}

/** The `otpEncryptionTargetBundle` of init_otp: for one organization and no user. `targetPublicKey` has 65 bytes. */
export function makeOtpTargetBundle(
  otpSigner: BundleSigner,
  { organizationId, targetPublicKey }: { organizationId: string; targetPublicKey: Uint8Array },
): string {
  return signedBundle(otpSigner, { targetPublic: toHex(targetPublicKey), organizationId, userId: "" });
}

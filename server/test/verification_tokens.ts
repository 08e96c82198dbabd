/** Verification tokens as the signer of a rig makes them, and what those who hold them do with them. */
import { randomBytes } from "node:crypto";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import type { ClientSignature, SignUp, SignUpForm } from "@keystead/core/otp/client_signature.ts";
import { makeVerificationToken, type TokenClaims } from "@keystead/core/otp/verification_token.ts";
import { attestedFields, type P256Key, p256Key, signMessage } from "../../core/test/otp/bases.ts";
import { seededRandom } from "../../core/test/seeded_random.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { verificationTokenId } from "../src/state/derived_id.ts";
import type { SignerRig } from "./signer_rig.ts";

/** A token, and the key that it is bound to, or would be. */
export type HeldToken = { claims: TokenClaims; token: string; holder: P256Key };

type Issuer = Pick<SignerRig, "rootKey" | "keyring" | "clock" | "orders">;

let seed = 1_000;

/** As the first organization issues one by mail, bound to a key for an hour; `unbound` for one that is not. */
export function heldToken(
  rig: Issuer,
  { unbound = false, madeAgoMs = 0, ...changes }: Partial<TokenClaims> & { unbound?: boolean; madeAgoMs?: number } = {},
): HeldToken {
  const holder = p256Key(seededRandom(seed++));
  const { nowMs } = rig.clock;
  const claims: TokenClaims = {
    tokenId: verificationTokenId(randomBytes(16), randomBytes(32), nowMs - madeAgoMs),
    expiresAtMs: nowMs + 3_600_000,
    organizationId: rig.orders.birth.organizationId,
    verificationType: "OTP_TYPE_EMAIL",
    contact: "ann@example.com",
    publicKey: unbound ? undefined : holder.publicKey,
    ...changes,
  };
  return { claims, token: makeVerificationToken(openKeyring(rig.rootKey, 1, rig.keyring).otp, claims), holder };
}

/** What a client signs to log in with this session key. */
export function loginSignature({ claims, holder }: HeldToken, publicKey: string): ClientSignature {
  const { tokenId } = claims;
  return signMessage(holder, JSON.stringify({ login: { publicKey }, tokenId, type: "USAGE_TYPE_LOGIN" }));
}

/** What a client signs to sign up with these credentials. */
export function signUpSignature({ claims, holder }: HeldToken, form: SignUpForm, signUp: SignUp): ClientSignature {
  const { tokenId } = claims;
  return signMessage(holder, JSON.stringify({ [form]: signUp, tokenId, type: "USAGE_TYPE_SIGNUP" }));
}

/** What a client signs to have this contact of a user verified. */
export function contactSignature({ claims, holder }: HeldToken, userId: string, contact: string): ClientSignature {
  const { tokenId } = claims;
  return signMessage(
    holder,
    JSON.stringify({ tokenId, type: "USAGE_TYPE_UPDATE_CONTACT", updateContact: { userId, contact } }),
  );
}

/** The stamp over a body that the token vouches for. */
export function attestedEvidence(held: HeldToken, body: Uint8Array): SentEvidence<"attested"> {
  return { kind: "attested", value: Buffer.from(JSON.stringify(attestedFields(held, body))).toString("base64url") };
}

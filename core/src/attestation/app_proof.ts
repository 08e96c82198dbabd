/** App proofs, as far as checking them goes: a text that was signed with the ephemeral key of one start. */
import type { Curves } from "../crypto/curves.ts";
import { fromHex } from "../encoding/hex.ts";
import { isUuid } from "../encoding/uuid.ts";
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

/** The activity that a proof is about, as the API shows its id and its fingerprint. */
export type ProvenActivity = { activityId: string; fingerprint: string };

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

/** Undefined where the payload names none: earlier releases made such proofs, and nothing in them says which request they are about. */
export function activityProvenBy({ proofPayload }: Pick<AppProof, "proofPayload">): ProvenActivity | undefined {
  const { activityId, fingerprint } = fieldsOf(proofPayload);
  if (activityId === undefined && fingerprint === undefined) return undefined;
  const named = { activityId, fingerprint };
  if (!isActivity(named)) throw bad("it names its activity in an unknown form");
  return named;
}

/** Both names, as the API writes them: they are printed, and a file may say anything. */
export function isActivity(named: { activityId?: unknown; fingerprint?: unknown }): named is ProvenActivity {
  const { activityId, fingerprint } = named;
  return (
    typeof activityId === "string" &&
    isUuid(activityId) &&
    typeof fingerprint === "string" &&
    /^sha256:[0-9a-f]{64}$/.test(fingerprint)
  );
}

/** Throws `invalid_argument` where a proof is about another activity than it should be. What one side does not name is not compared. */
export function refuseMovedProof(proven: Partial<ProvenActivity>, expected: Partial<ProvenActivity>): void {
  if (areTwo(proven.activityId, expected.activityId)) {
    throw bad(`it is of activity ${proven.activityId}, not of ${expected.activityId}`);
  }
  if (areTwo(proven.fingerprint, expected.fingerprint)) {
    throw bad(`it is of the request ${proven.fingerprint}, not of ${expected.fingerprint}`);
  }
}

function areTwo(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

function fieldsOf(proofPayload: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(proofPayload));
  } catch {
    throw bad("its payload is not JSON");
  }
}

function bad(why: string): Fault {
  return new Fault("invalid_argument", `bad app proof: ${why}`);
}

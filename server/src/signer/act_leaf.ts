/** The leaf of an act that a user stamped. */
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { encodeLeaf, type LeafEvent, type LeafGrounds } from "@keystead/core/log/leaf.ts";
import { activityId as deriveActivityId } from "../state/derived_id.ts";
import { sha256 } from "../state/digest.ts";
import type { Act } from "./outcome.ts";

export type ActRecord = {
  event: LeafEvent;
  grounds: LeafGrounds;
  /** Whose log it stands in: the act's own organization, or the one it brings into the world. */
  organizationId: Uint8Array;
  /** Of the state it leads to, with its MAC. */
  header: Uint8Array | undefined;
  outcome: string;
};

/** Whatever it leads to, the state it was decided on is the one of the act's own organization. */
export function actLeaf(
  act: Act,
  { outcome, ...recorded }: ActRecord,
): { boot: Uint8Array; number: number; activityId: Uint8Array; leaf: Uint8Array } {
  const { signer, state, caller, asked, stamped, nowMs } = act;
  const { boot } = signer;
  const number = signer.nextNumber();
  const activityId = idOf(act);
  const leaf = encodeLeaf({
    ...recorded,
    boot,
    number,
    activityId,
    activityType: asked.form.type,
    fingerprint: asked.fingerprint,
    timeMs: nowMs,
    stateVersion: state.known.header.version,
    stateDigest: state.known.digest,
    stamps: [
      {
        userId: uuidToBytes(caller.user.userId),
        credentialId: uuidToBytes(caller.apiKey.apiKeyId),
        scheme: caller.stamp.scheme,
        publicKey: caller.stamp.publicKeyBytes,
        signature: caller.stamp.signature,
        body: stamped,
      },
    ],
    outcome: sha256(outcome),
  });
  return { boot, number, activityId, leaf: signer.keyring.authenticity.mark("leaf", leaf) };
}

export function idOf({ state, asked }: Act): Uint8Array {
  return deriveActivityId(state.known.header.organizationId, asked.fingerprint, asked.envelope.timestampMs);
}

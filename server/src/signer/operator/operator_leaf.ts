/** The leaf of an act that the operator ordered and no user stamped. */
import { encodeLeaf, type LeafEvent } from "@keystead/core/log/leaf.ts";
import type { Signer } from "../decision/signer.ts";

export type OperatorAct = {
  event: LeafEvent;
  organizationId: Uint8Array;
  /** SHA-256 of the order, where there is one. */
  fingerprint: Uint8Array;
  timeMs: number;
  stateVersion: number;
  stateDigest: Uint8Array;
  header: Uint8Array | undefined;
  outcome: Uint8Array;
};

export function operatorLeaf(signer: Signer, act: OperatorAct): { boot: Uint8Array; number: number; leaf: Uint8Array } {
  const number = signer.nextNumber();
  const leaf = encodeLeaf({
    ...act,
    boot: signer.boot,
    number,
    grounds: "OPERATOR",
    activityId: new Uint8Array(16),
    activityType: "",
    stamps: [],
  });
  return { boot: signer.boot, number, leaf: signer.keyring.authenticity.mark("leaf", leaf) };
}

/** The leaf of an act that the operator ordered and no user stamped. */
import { encodeLeaf, type NewLeaf } from "@keystead/core/log/leaf.ts";
import type { NamedState } from "@keystead/core/log/leaf_format_2.ts";
import type { LeafEvent } from "@keystead/core/log/leaf_words.ts";
import type { Signer } from "../decision/signer.ts";

export type OperatorAct = {
  event: LeafEvent;
  organizationId: Uint8Array;
  /** SHA-256 of the order, where there is one. */
  fingerprint: Uint8Array;
  timeMs: number;
  /** Undefined of a first state, which nothing was before. */
  decidedOn: NamedState | undefined;
  header: Uint8Array | undefined;
  /** What neither the order nor a state says. */
  outside?: NewLeaf["outside"];
  outcome: Uint8Array;
};

export function operatorLeaf(
  signer: Signer,
  { decidedOn, outside = [], ...act }: OperatorAct,
): { boot: Uint8Array; number: number; leaf: Uint8Array } {
  const number = signer.nextNumber();
  const leaf = encodeLeaf({
    ...act,
    boot: signer.boot,
    number,
    blind: signer.nextBlind(),
    grounds: "OPERATOR",
    activityId: new Uint8Array(16),
    activityType: "",
    states: decidedOn === undefined ? [] : [decidedOn],
    evidence: [],
    outside,
  });
  return { boot: signer.boot, number, leaf: signer.keyring.authenticity.mark("leaf", leaf) };
}

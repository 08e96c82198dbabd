/** The leaf of an act that a user stamped. */
import { encodeLeaf, type NewLeaf } from "@keystead/core/log/leaf.ts";
import type { NamedState } from "@keystead/core/log/leaf_format_2.ts";
import type { LeafEvent, LeafGrounds } from "@keystead/core/log/leaf_words.ts";
import { encodeImportTarget } from "@keystead/core/log/outside_values.ts";
import { keptEvidence } from "../../evidence/evidence.ts";
import type { NextState } from "../../frames/messages.ts";
import { verifyingKeyOf } from "../../state/credentials.ts";
import { activityId as deriveActivityId } from "../../state/derived_id.ts";
import { sha256 } from "../../state/digest.ts";
import type { MadeBytes } from "../../state/drawn.ts";
import type { Act } from "./act.ts";
import type { KnownHeader } from "./line.ts";

export type ActRecord = {
  /** That `nextNumber` gave: records that come with the leaf name it. */
  number: number;
  event: LeafEvent;
  grounds: LeafGrounds;
  /** Whose log it stands in: the act's own organization, or the one it brings into the world. */
  organizationId: Uint8Array;
  /** The state it leads to. */
  ledTo: KnownHeader | undefined;
  /** Of a birth whose creator changed its own state too: that next state. Both are released together with it, or not at all. */
  creator?: KnownHeader | undefined;
  outcome: string;
  made: MadeBytes | undefined;
  /** The pages that differ in the state it leads to. */
  pages: NextState["pages"] | undefined;
};

/** Whatever it leads to, the state that it stands on is one of the act's own organization. */
export function actLeaf(
  act: Act,
  { number, event, grounds, organizationId, ledTo, creator, outcome, made, pages }: ActRecord,
): { boot: Uint8Array; number: number; activityId: Uint8Array; leaf: Uint8Array } {
  const { signer, asked, nowMs } = act;
  const { boot } = signer;
  const activityId = idOf(act);
  const states = statesOf(act, creator);
  const drawn = drawnValues(act, made, pages);
  const outside = [...act.identities.taken, ...act.orders.taken, ...act.verdicts.taken, ...drawn];
  const content = encodeLeaf({
    boot,
    number,
    blind: signer.nextBlind(),
    event,
    grounds,
    organizationId,
    activityId,
    activityType: asked.form.type,
    fingerprint: asked.fingerprint,
    timeMs: nowMs,
    states,
    header: ledTo?.marked,
    evidence: [evidenceOf(act)],
    outside,
    outcome: sha256(outcome),
  });
  const marked = signer.keyring.authenticity.mark("leaf", content);
  const { fingerprint, form } = asked;
  const leaf = { boot, number, event, organizationId, states, activityType: form.type, fingerprint, outside };
  signer.onItsWay.put({ leaf, marked, ledTo });
  return { boot, number, activityId, leaf: marked };
}

/** The states that an act names: its own organization's, or the one that its creator led to, and those that were read along. */
export function statesOf({ state, others }: Act, creator?: KnownHeader): NamedState[] {
  return [creator ?? state.known, ...others.read].map(({ header, digest }) => ({
    organizationId: header.organizationId,
    version: header.version,
    digest,
  }));
}

/** What a leaf keeps of how the caller showed who it is. */
export function evidenceOf({ signer, caller, stamped }: Act) {
  const { ids, evidence, credential } = caller;
  return { ...ids, body: stamped, content: keptEvidence(signer.curves, evidence, verifyingKeyOf(credential)) };
}

/** What a replay needs of what was drawn: the records, and the page that has sealed boxes in it. */
function drawnValues(
  { verdicts }: Act,
  { made, contents }: Partial<MadeBytes> = {},
  pages: NextState["pages"] = [],
): NewLeaf["outside"] {
  const targets = pages.find(({ name }) => name === "importTargets");
  const named = [made, contents].flatMap((bytes) => (bytes === undefined ? [] : sha256(bytes)));
  return [
    ...named.map((value) => ({ kind: "made", value: { kind: "digest", value } }) as const),
    ...(targets === undefined ? [] : [importTargetValue(verdicts.target, targets.content)]),
  ];
}

function importTargetValue(publicKey: Uint8Array | undefined, page: Uint8Array): NewLeaf["outside"][number] {
  const value = encodeImportTarget({ publicKey, page: sha256(page) });
  return { kind: "importTarget", value: { kind: "bytes", value } };
}

export function idOf({ state, asked }: Act): Uint8Array {
  return deriveActivityId(state.known.header.organizationId, asked.fingerprint, asked.envelope.timestampMs);
}

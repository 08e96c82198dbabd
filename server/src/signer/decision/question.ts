/** What the decision point is asked about an act, from what the signer itself has authenticated. */
import type { Question } from "../../rules/authorise.ts";
import type { Approval } from "../../state/entities.ts";
import type { Act } from "./act.ts";
import { openInterfaces } from "./policy_interfaces.ts";

export function questionOf(act: Act, approvals: readonly Approval[]): Question {
  const { signer, state, actingParent, isByAuthProxy, supplied, keys, asked, proposerId, wasWaiting, nowMs } = act;
  return {
    pages: actingParent?.pages ?? state.pages,
    ...(actingParent !== undefined && { isByParent: true }),
    ...(isByAuthProxy && { isByAuthProxy: true }),
    keys,
    ...openInterfaces(signer, state, supplied, asked.envelope.generateAppProofs),
    form: asked.form,
    params: asked.params,
    proposerId,
    approvals,
    isWaiting: wasWaiting === true,
    nowMs,
    acceptedAtMs: signer.memory.acceptedAtMs,
  };
}

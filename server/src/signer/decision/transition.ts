/** The state that an act leads to, in which whoever acted is proven. */
import { Fault } from "@keystead/core/fault.ts";
import type { Work } from "@keystead/core/work.ts";
import type { NextState } from "../../frames/messages.ts";
import { withVerifiedContact } from "../../state/contacts.ts";
import type { Change } from "../../state/entities.ts";
import { isFirstSignIn } from "../../state/first_sign_in.ts";
import { withChangedUser, withProvenCredential } from "../../state/proven.ts";
import type { Act } from "./act.ts";
import type { KnownHeader } from "./line.ts";
import { type Executed, type Executing, noteExecuted, writingState } from "./write_state.ts";

/** Where an act leads. */
export type Transition = {
  changes: readonly Change[];
  next?: NextState;
  /** The header of the next state; or of the first state of what the act brings into the world. */
  ledTo?: KnownHeader | undefined;
  /** The journal that lists the act from now on. */
  slot?: number | undefined;
};

export const stay: Transition = { changes: [] };

/** The act is over: the next state knows its fingerprint, or refuses bodies of its time altogether. */
export function* ending(act: Act, changes: readonly Change[], how?: Executing): Work<Transition> {
  const { signer, state, asked, nowMs } = act;
  const { slot, ...executed } = noteExecuted(signer, state, asked.envelope.timestampMs, asked.fingerprint, nowMs);
  return { slot, ...(yield* advancingProven(act, changes, executed, how)) };
}

/**
 * The next state, in which the key that stamped this request is proven: whoever changes the state has that key, whosever activity it
 * votes on. Where the mark alone would make full pages too long, the act goes on without it, or the quorum could not make room.
 */
export function* advancingProven(
  act: Act,
  intended: readonly Change[],
  executed: Executed,
  how?: Executing,
): Work<Transition> {
  const changes = proving(act, intended);
  try {
    return { changes, ...(yield* advancing(act, changes, executed, how)) };
  } catch (error) {
    const isTooLong = error instanceof Fault && error.code === "resource_exhausted";
    if (!isTooLong || changes === intended) throw error;
    return { changes: intended, ...(yield* advancing(act, intended, executed, how)) };
  }
}

function proving(act: Act, changes: readonly Change[]): readonly Change[] {
  const { state, caller, namesParent, actingParent, isByAuthProxy } = act;
  const { contact } = caller;
  if (contact !== undefined) {
    return withChangedUser(state.pages.members, changes, caller.user.userId, (user) =>
      withVerifiedContact(user, { ...contact, mark: { by: "code" } }),
    );
  }
  // Who names the parent has not said that this is the organization: the gateway has. And a user of the parent has no key here.
  if (caller.credential.proven || actingParent !== undefined || isByAuthProxy) return changes;
  const { user, credential } = caller;
  if (namesParent && !isFirstSignIn(state.pages, user, credential.credentialId, act.nowMs)) return changes;
  return withProvenCredential(state.pages.members, changes, user.userId, credential.credentialId);
}

function* advancing(
  { signer, state, bodyMs, nowMs }: Act,
  changes: readonly Change[],
  executed: Executed,
  how?: Executing,
): Work<Pick<Transition, "next" | "ledTo">> {
  const { known, directory, pages, pageLengths } = state;
  const before = { ...known.header, digest: known.digest, directory, pages, pageLengths };
  const { next, open } = yield* writingState(signer, before, changes, executed, how);
  signer.heads.set(open);
  signer.memory.noteBodyTime(bodyMs, nowMs);
  return { next, ledTo: open.known };
}

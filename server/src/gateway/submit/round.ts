/**
 * The budget of a request: how often it is tried, and how long it pauses in between. An attempt is done, refused, or must come again
 * for a reason and with what it needs. Whatever comes again comes through the one loop of this file.
 *
 * Attempts form turns. Within a turn a request keeps its place among those of its organization. A turn ends when somebody else may have
 * changed the organization, or have done this very thing: the next one looks at what is stored before it asks the signer.
 *
 * Each attempt ends in time by itself: the link to the signer has a deadline (`link/signer_link.ts`), a place in the queue is given or
 * refused (`bounds/admission.ts`), and no commit of another request is waited for longer than `maxCommitMs`.
 */
import { Fault } from "@keystead/core/fault.ts";

export type RoundResult<T, Need> =
  | { kind: "done"; value: T }
  | { kind: "again"; reason: Reason; needs: readonly Need[] }
  | { kind: "refused"; error: unknown };

export type Reason = keyof typeof reasons;

type ReasonRow = { endsTurn: boolean; pauses: boolean };

/** Every reason to try again. */
const reasons = {
  /** The signer lacks something that the gateway can bring. */
  lacking: { endsTurn: false, pauses: false },
  /** A refusal was decided on a state that is not the organization's newest. */
  overtaken: { endsTurn: false, pauses: false },
  /** The signer refuses the state, or rows that came with it. What is read in a moment may be right. */
  stateRefused: { endsTurn: false, pauses: true },
  /** None of a turn's attempts was decided, and nothing is wrong with the rows. */
  attemptsUsed: { endsTurn: true, pauses: true },
  /** The database did not take it: another gateway was faster. */
  conflict: { endsTurn: true, pauses: true },
  /** The signer has executed these bytes, so they are stored or about to be. */
  executed: { endsTurn: true, pauses: true },
  /** The caller is a member by the database and not yet by the state that was decided on. */
  callerAdded: { endsTurn: true, pauses: true },
  /** The activity that is voted on is not pending any more. */
  voteEnded: { endsTurn: true, pauses: true },
} as const satisfies Record<string, ReasonRow>;

export function endsTurn(reason: Reason): boolean {
  return reasons[reason].endsTurn;
}

export type RoundLimits = { turns: number; attempts: number };

/** Another gateway may win several times in a row; each time is one more turn against fresh state. */
export const submitLimits: RoundLimits = { turns: 40, attempts: 7 };

/** A release lacks headers at most: those before the pin, and once more if others moved on meanwhile. */
export const releaseLimits: RoundLimits = { turns: 1, attempts: 3 };

/** For a commit of another request. It is answered long before; should one be forgotten, nobody waits for it for ever. */
export const maxCommitMs = 10_000;

const maxPauseMs = 250;

export class Round {
  /** Both count from 0, the attempts of each turn anew. */
  turn = 0;
  attempt = 0;
  readonly #limits: RoundLimits;
  readonly #organizationId: string;

  constructor(limits: RoundLimits, organizationId: string) {
    this.#limits = limits;
    this.#organizationId = organizationId;
  }

  /** Whether the turn ends with this attempt, whatever comes of it. */
  get isLastAttempt(): boolean {
    return this.attempt + 1 >= this.#limits.attempts;
  }

  /** Counts, and pauses where the reason asks for it; throws when the budget is spent. */
  async next(reason: Reason): Promise<void> {
    const { endsTurn, pauses } = reasons[reason];
    if (!endsTurn && !this.isLastAttempt) {
      if (pauses) await pause(2 ** this.attempt);
      this.attempt += 1;
      return;
    }
    // The second turn begins at once: mostly one other was faster, and is done.
    if (this.turn > 0) await pause(Math.min(maxPauseMs, 2 ** this.turn));
    this.turn += 1;
    this.attempt = 0;
    if (this.turn >= this.#limits.turns) throw budgetSpent(this.#organizationId, this.turn);
  }
}

/** Or a row that somebody has put in the way keeps every commit from being taken: the operator hears how to find it. */
function budgetSpent(organizationId: string, turns: number): Fault {
  return new Fault("unavailable", "too many concurrent changes to this organization; try again", {
    cause: new Error(
      `organization ${organizationId}: no commit was taken in ${turns} rounds; if nobody else changes it, ` +
        "stop the server and run `npx keystead check-database`",
    ),
  });
}

/** The first attempt is made with the needs that are known before it. */
export async function runRounds<T, Need>(
  round: Round,
  known: readonly Need[],
  attempt: (needs: readonly Need[]) => Promise<RoundResult<T, Need>>,
): Promise<T> {
  let needs = known;
  for (;;) {
    const step = await attempt(needs);
    if (step.kind === "done") return step.value;
    if (step.kind === "refused") throw step.error;
    await round.next(step.reason);
    needs = step.needs;
  }
}

function pause(longestMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
}

/** What a race is: one entry says how a trial is set up, what is sent at once, and which outcomes are legal. */
import type { Answer } from "@keystead/e2e/wire.ts";
import type { Stage, Stamped } from "./stage.ts";

/** One for each request, in their order. The type knows of four; a race of fewer reads fewer. */
export type Answers = readonly [Answer, Answer, Answer, Answer, ...Answer[]];

export type Race<T> = {
  /** The guarantee that no interleaving may break. */
  name: string;
  setUp(stage: Stage): Promise<T>;
  /** Sent at the same moment, spread over all servers. */
  requests(fixture: T, stage: Stage): readonly Stamped[];
  /**
   * Looks at every answer and at the state afterwards, and throws when they are not those of some order of the requests. It
   * returns which order it was.
   */
  check(fixture: T, answers: Answers, stage: Stage, requests: readonly Stamped[]): Promise<string>;
  /** Why it ends alike in whichever order. Without a reason, a race that always ends alike was none. */
  endsAlike?: string;
};

/** A race whose fixture only it knows. */
export type AnyRace = Race<never>;

export function defineRace<T>(race: Race<T>): AnyRace {
  return race as AnyRace;
}

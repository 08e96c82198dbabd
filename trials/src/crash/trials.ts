/** Which trials there are: every step × every fault × every kind of act, and what else the seed lets happen in each. */
import { type Step, steps } from "@keystead/server/state/steps.ts";
import type { Store } from "@keystead/server/store/store.ts";
import { seededRandom, shuffled } from "../../../core/test/seeded_random.ts";
import type { Act } from "../acts/act.ts";
import { type ActKind, actKinds, catalogue } from "../acts/catalogue.ts";

/** SQLite has no connection that could be cut. */
export const faultsOf = {
  sqlite: ["gateway", "signer", "both"],
  postgres: ["gateway", "signer", "both", "database"],
} as const satisfies Record<Store["dialect"], readonly string[]>;

export type Fault = (typeof faultsOf)["postgres"][number];

export type Harm = {
  step: Step;
  fault: Fault;
  /** A connection to the database breaks like a wire, instead of being ended by the server. */
  breaksWire: boolean;
  /** What waits in the database goes on only when the next one waits behind it, or with a wire: breaks after the commit. */
  isLate: boolean;
};

export type Trial = Harm & {
  name: string;
  kind: ActKind;
  act: Act;
  /** From two senders at once. */
  twice: boolean;
  /** While it recovers, if it comes to this step. */
  again: Harm | undefined;
};

const stepNames = steps.map(({ name }) => name);

/** With so many seeds one after another, every act meets every step. */
export const wholeSeeds = 10;

/**
 * All of them, or a third of the steps × faults along diagonals, so that no step is left out, with the kinds of acts in turn;
 * in an order that the seed gives.
 */
export function trialsOf(dialect: Store["dialect"], seed: number, isFull: boolean): Trial[] {
  const faults: readonly Fault[] = faultsOf[dialect];
  const all = stepNames.flatMap((step, row) => faults.map((fault, column) => ({ step, fault, row, column })));
  const cells = isFull ? all : all.filter(({ row, column }) => (row + column + seed) % 3 === 0);
  const trials = cells.flatMap((cell, index) => {
    const kinds = isFull ? actKinds : [actKinds[(index + seed) % actKinds.length] as ActKind];
    return kinds.flatMap((kind) =>
      actsOf(dialect, seed, { ...cell, kind }).map((act, at) => toTrial(dialect, seed, { ...cell, kind, act, at })),
    );
  });
  return shuffled(trials, seededRandom(seed));
}

type Place = Pick<Trial, "step" | "fault" | "kind">;
type Cell = Place & { row: number; column: number };

/**
 * The acts of a kind take turns: at each step they go on from fault to fault and from seed to seed, so that none is left out there;
 * of a kind with more acts than there are turns, several come at once. Each step begins with another act.
 */
function actsOf(dialect: Store["dialect"], seed: number, { kind, row, column }: Cell): Act[] {
  const acts: readonly Act[] = catalogue[kind];
  const faults = faultsOf[dialect].length;
  const atOnce = Math.ceil(acts.length / (faults * wholeSeeds));
  const first = (seed * faults + column) * atOnce + row * 7;
  return Array.from({ length: atOnce }, (_, index) => acts[(first + index) % acts.length] as Act);
}

/** Whatever the acts' turns leave open is the trial's own randomness: alone it is the same trial. */
function toTrial(
  dialect: Store["dialect"],
  seed: number,
  { step, fault, kind, act, at }: Place & { act: Act; at: number },
): Trial {
  const name = `${step}/${fault}/${kind}${at === 0 ? "" : `/${at + 1}`}`;
  const random = seededRandom(mix(seed, name));
  const faults: readonly Fault[] = faultsOf[dialect];
  const dice = () => ({ breaksWire: random.next() < 0.5, isLate: random.next() < 0.5 });
  const own = dice();
  const isAgain = random.next() < 0.15;
  // Inside PostgreSQL a commit is held for the first fault only.
  const others = stepNames.filter((other) => other !== "written" || dialect === "sqlite");
  const again = { step: random.pick(others), fault: random.pick(faults), ...dice() };
  return { name, step, fault, kind, act, ...own, twice: random.next() < 0.2, again: isAgain ? again : undefined };
}

function mix(seed: number, text: string): number {
  let mixed = seed | 0;
  for (const character of text) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return mixed;
}

export function describeTrial({ name, act, twice, breaksWire, isLate, again }: Trial): string {
  const more = again === undefined ? "" : `, then ${again.fault} at ${again.step}`;
  const how = [twice && "twice", breaksWire && "by wire", isLate && "late"].filter(Boolean).join(", ");
  return `${name} (${act.name}${how === "" ? "" : `; ${how}`}${more})`;
}

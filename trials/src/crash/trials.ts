/** Which trials there are: every step × every fault × every kind of act, and what else the seed lets happen in each. */
import { type Step, steps } from "@keystead/server/state/steps.ts";
import type { Store } from "@keystead/server/store/store.ts";
import { seededRandom, shuffled } from "../../../core/test/seeded_random.ts";
import type { Act } from "../acts/act.ts";
import { type ActKind, actKinds, catalogue } from "../acts/catalogue.ts";

/** SQLite has no connection that could be cut. */
const commonFaults = {
  sqlite: ["gateway", "signer", "both"],
  postgres: ["gateway", "signer", "both", "database"],
} as const satisfies Record<Store["dialect"], readonly string[]>;

export type Fault = (typeof commonFaults)["postgres"][number] | "courier";

/** The kinds of acts that have the courier do something: it sends codes, fetches issuers' keys and exchanges codes of providers. */
const withCourier: readonly ActKind[] = ["code", "identity", "sign-up"];

export function faultsOf(dialect: Store["dialect"], kind: ActKind): readonly Fault[] {
  return withCourier.includes(kind) ? [...commonFaults[dialect], "courier"] : commonFaults[dialect];
}

export type Harm = {
  step: Step;
  fault: Fault;
  /** A connection to the database breaks like a wire, instead of being ended by the server. */
  breaksWire: boolean;
  /** What waits in the database goes on only when the next one waits behind it, or with a wire: breaks after the commit. */
  isLate: boolean;
  /** Of an act that has a code exchanged: not before the provider has done so. */
  isAfterExchange: boolean;
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
  const places = isFull ? allPlaces(dialect) : [...samplePlaces(dialect, seed, actKinds), ...courierPlaces(seed)];
  const trials = places.flatMap((place) =>
    actsOf(dialect, seed, place).map((act, at) => toTrial(dialect, seed, { ...place, act, at })),
  );
  return shuffled(trials, seededRandom(seed));
}

type Place = Pick<Trial, "step" | "fault" | "kind">;

function allPlaces(dialect: Store["dialect"]): Place[] {
  return stepNames.flatMap((step) =>
    actKinds.flatMap((kind) => faultsOf(dialect, kind).map((fault) => ({ step, fault, kind }))),
  );
}

function samplePlaces(dialect: Store["dialect"], seed: number, kinds: readonly ActKind[]): Place[] {
  const all = stepNames.flatMap((step, row) =>
    commonFaults[dialect].map((fault, column) => ({ step, fault, place: row + column })),
  );
  return all
    .filter(({ place }) => (place + seed) % 3 === 0)
    .map(({ step, fault }, index) => ({ step, fault, kind: kinds[(index + seed) % kinds.length] as ActKind }));
}

/** Every fourth step, from another one with each seed. */
function courierPlaces(seed: number): Place[] {
  return stepNames
    .filter((_, row) => (row + seed) % 4 === 0)
    .map((step, index) => ({
      step,
      fault: "courier",
      kind: withCourier[(index + seed) % withCourier.length] as ActKind,
    }));
}

/**
 * The acts of a kind take turns: at each step they go on from fault to fault and from seed to seed, so that none is left out there;
 * of a kind with more acts than there are turns, several come at once. Each step begins with another act.
 */
function actsOf(dialect: Store["dialect"], seed: number, { step, fault, kind }: Place): Act[] {
  const acts: readonly Act[] = catalogue[kind];
  const faults = faultsOf(dialect, kind);
  const atOnce = Math.ceil(acts.length / (faults.length * wholeSeeds));
  const first = (seed * faults.length + faults.indexOf(fault)) * atOnce + stepNames.indexOf(step) * 7;
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
  const faults = faultsOf(dialect, kind);
  const dice = () => ({ breaksWire: random.next() < 0.5, isLate: random.next() < 0.5, isAfterExchange: false });
  const own = dice();
  const isAgain = random.next() < 0.15;
  // Inside PostgreSQL a commit is held for the first fault only.
  const others = stepNames.filter((other) => other !== "written" || dialect === "sqlite");
  const again = { step: random.pick(others), fault: random.pick(faults), ...dice() };
  const twice = random.next() < 0.2;
  const isAfterExchange = act.exchangesCode === true && askingSteps.includes(step) && random.next() < 0.5;
  return { name, step, fault, kind, act, ...own, isAfterExchange, twice, again: isAgain ? again : undefined };
}

/** An act that has a code exchanged passes these before and after. */
const askingSteps: readonly Step[] = ["asking", "received", "authenticated"];

function mix(seed: number, text: string): number {
  let mixed = seed | 0;
  for (const character of text) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return mixed;
}

export function describeTrial({ name, act, twice, breaksWire, isLate, isAfterExchange, again }: Trial): string {
  const more = again === undefined ? "" : `, then ${again.fault} at ${again.step}`;
  const words = [twice && "twice", breaksWire && "by wire", isLate && "late", isAfterExchange && "after the exchange"];
  const how = words.filter(Boolean).join(", ");
  return `${name} (${act.name}${how === "" ? "" : `; ${how}`}${more})`;
}

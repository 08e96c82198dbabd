/**
 * What a condition speaks of, against what an activity has. A policy about something else is not applicable: it neither
 * allows nor denies, as opposed to one whose value is missing where it should be.
 */
import type { ConditionFacts } from "../facts/facts.ts";

/** One row per namespace that some activities have and others have not. */
const presence: readonly [name: string, isIn: (view: ConditionFacts) => boolean][] = [
  ["wallet", ({ wallet }) => wallet !== undefined],
  ["wallets", ({ wallets }) => wallets !== undefined],
  ["wallet_account", ({ wallet_account }) => wallet_account !== undefined],
  ["private_key", ({ private_key }) => private_key !== undefined],
  ["secret", ({ secret }) => secret !== undefined],
  ["eth.tx", ({ eth }) => eth?.tx !== undefined],
  ["eth.eip_712", ({ eth }) => eth?.eip_712 !== undefined],
  ["eth.eip_7702_authorization", ({ eth }) => eth?.eip_7702_authorization !== undefined],
  ["solana.tx", ({ solana }) => solana?.tx !== undefined],
  ["bitcoin.tx", ({ bitcoin }) => bitcoin?.tx !== undefined],
  ["tron.tx", ({ tron }) => tron?.tx !== undefined],
  ["tempo.tx", ({ tempo }) => tempo?.tx !== undefined],
];

const paramPrefix = "activity.params.";

/** A bit per row of the table, so that a hundred policies are compared with an activity in no time. */
export type Needs = { names: readonly string[]; bits: number; params: readonly string[] };

export function compileNeeds(names: readonly string[]): Needs {
  let bits = 0;
  const params: string[] = [];
  for (const name of names) {
    const row = presence.findIndex(([known]) => known === name);
    if (row >= 0) bits |= 1 << row;
    // A name that no row knows is one that no activity has, which is what a parameter that no kind has is.
    else params.push(name.startsWith(paramPrefix) ? name.slice(paramPrefix.length) : name);
  }
  return { names, bits, params };
}

/** What a view has, in the bits of `Needs`. */
export function presentIn(view: ConditionFacts): number {
  let bits = 0;
  presence.forEach(([, isIn], row) => {
    if (isIn(view)) bits |= 1 << row;
  });
  return bits;
}

export function isApplicable({ bits, params }: Needs, view: ConditionFacts, present: number): boolean {
  if ((bits & ~present) !== 0) return false;
  for (const name of params) if (!view.paramNames.has(name)) return false;
  return true;
}

/** The first thing that the condition names and the activity does not have. */
export function findAbsent({ names }: Needs, view: ConditionFacts, present: number): string | undefined {
  return names.find((name) => !isApplicable(compileNeeds([name]), view, present));
}

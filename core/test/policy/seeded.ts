/** Chance from a seed that can be given again. */
export type Chance = {
  /** A whole number below the bound. */
  below(bound: number): number;
  /** True once in so many times. */
  once(inTimes: number): boolean;
  of<T>(choices: readonly T[]): T;
};

export function seeded(seed: number): Chance {
  let state = seed >>> 0;
  const below = (bound: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
  return {
    below,
    once: (inTimes) => below(inTimes) === 0,
    of(choices) {
      if (choices.length === 0) throw new Error("nothing to choose from");
      return choices[below(choices.length)] as (typeof choices)[number];
    },
  };
}

/** The seed that the caller asks for, or a new one. */
export function chosenSeed(): number {
  return Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
}

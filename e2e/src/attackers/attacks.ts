/** All attacks by their names. One more is one more line in its own file. */
import type { Attack } from "./attack.ts";
import { brokenAttacks } from "./broken.ts";
import { costlyAttacks } from "./costly.ts";
import { floodAttacks } from "./flood.ts";
import { hugeAttacks } from "./huge.ts";
import { slowAttacks } from "./slow.ts";

export const attacks = {
  ...slowAttacks,
  ...hugeAttacks,
  ...floodAttacks,
  ...costlyAttacks,
  ...brokenAttacks,
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

export const attackNames = Object.keys(attacks) as AttackName[];

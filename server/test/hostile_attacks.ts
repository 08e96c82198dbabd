/**
 * What a gateway under an attacker's hand makes of a recorded run. Each attack is a name and the frames it sends: honest material
 * put together in a way that no honest gateway would, or bent. The driver tries them all, in turn.
 */

import { boxAttacks } from "./hostile_boxes.ts";
import { frameAttacks } from "./hostile_frames.ts";
import { historyAttacks } from "./hostile_history.ts";
import { logAttacks } from "./hostile_log_attacks.ts";
import type { Aim } from "./hostile_material.ts";
import type { Run } from "./hostile_run.ts";
import { stateAttacks } from "./hostile_states.ts";
import { type Want, wantOf, wishNames } from "./hostile_wants.ts";
import type { Random } from "./seeded_random.ts";

export const attacks = { ...stateAttacks, ...historyAttacks, ...boxAttacks, ...logAttacks, ...frameAttacks } as const;

export type AttackName = keyof typeof attacks;
export const attackNames = Object.keys(attacks) as AttackName[];

/** Any request at all, by name or by chance. */
export function createAim(run: Run, random: Random, hear: (want: Want) => void): Aim {
  return {
    run,
    random,
    want(name = random.pick(wishNames)) {
      const want = wantOf(run, random, name);
      hear(want);
      return want;
    },
  };
}

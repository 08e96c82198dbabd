/** All attacks by their names. One more is one more line in its own file. */
import type { Attack } from "./attack.ts";
import { proxyAttacks } from "./auth_proxy.ts";
import { brokenAttacks } from "./broken.ts";
import { costlyAttacks } from "./costly.ts";
import { floodAttacks } from "./flood.ts";
import { hugeAttacks } from "./huge.ts";
import { costliestAttacks, tenantFloods } from "./one_tenant.ts";
import { publicAttacks } from "./public_files.ts";
import { slowAttacks } from "./slow.ts";

/** The costliest of everything that can be asked for are many: they are measured, and not tried in every test run. */
const measuredAttacks = { ...tenantFloods, ...costliestAttacks, ...proxyAttacks, ...publicAttacks };

export const attacks = {
  ...slowAttacks,
  ...hugeAttacks,
  ...floodAttacks,
  ...costlyAttacks,
  ...brokenAttacks,
  ...measuredAttacks,
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

export const allAttackNames = Object.keys(attacks) as AttackName[];

export const attackNames = allAttackNames.filter((name) => !Object.hasOwn(measuredAttacks, name));

/** Strangers who ask for what everybody may read, without a stamp: each path's dearest answer, as fast as it is given. */
import { type Assault, type Attack, press, type Target } from "./attack.ts";
import type { Json } from "./lanes.ts";
import { headOf } from "./prepared.ts";
import { tenantLanes as floodConnections } from "./tenant.ts";

/** The path to ask for; and what it is called in the table, where that is no path yet. */
const pathsOf = {
  "/log checkpoint": async (target: Target) => `/log/${await logOf(target)}/checkpoint`,
  // Of all tiles the one that is no row by itself: it is put together of 256 each time.
  "/log entries": async (target: Target) => `/log/${await logOf(target)}/tile/entries/000`,
  "/.well-known/keystead.json": () => "/.well-known/keystead.json",
  "/openapi.json": () => "/openapi.json",
  "/metrics": () => "/metrics",
} as const satisfies Record<string, (target: Target) => Promise<string> | string>;

/** The newest, which whoever is measured writes to. */
async function logOf({ url }: Target): Promise<string> {
  const { logs } = (await (await fetch(`${url}/.well-known/keystead.json`)).json()) as Json;
  return logs.find(({ open }: Json) => open).logId;
}

function flooding(name: keyof typeof pathsOf): Attack {
  return {
    says: `a stranger, ${floodConnections} connections: ${name}, as fast as it is answered`,
    answers: [200, 429, 503],
    holds: floodConnections,
    ratio: 5,
    measured: { seconds: 10, rounds: 1 },
    sharesCalm: true,
    isDone: true,
    async begin(assault: Assault) {
      const request = headOf(await pathsOf[name](assault.target), [], "GET");
      // A connection is ended after a thousand requests, which takes it less than a second.
      press(assault, floodConnections, () => request, { reopenMs: [10, 50] });
    },
  };
}

export const publicNames = Object.keys(pathsOf) as (keyof typeof pathsOf)[];

export const publicAttacks = Object.fromEntries(
  publicNames.map((name): [string, Attack] => [`costliest public ${name}`, flooding(name)]),
) as Record<`costliest public ${keyof typeof pathsOf}`, Attack>;

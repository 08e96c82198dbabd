/** Kills and pauses of gateways and signers, at random moments, by their process ids of that moment. */
import { setTimeout as pause } from "node:timers/promises";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { killIfThere } from "@keystead/e2e/process_tree.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import type { Deployment } from "../races/deployment.ts";

export type Disturbances = { kills: number; pauses: number };

const targets = ["gateway", "signer", "both"] as const;

/** How many requests come through between two disturbances, at least and at most: some, and so few that a short run has several. */
const between = { least: 50, most: 180 };
/** Whoever is about to be started again is there soon. */
const againMs = 50;

/** Until told to stop. `done` says how many requests have come through; `struck` hears of each disturbance. */
export async function disturb(
  { servers }: Deployment,
  random: Random,
  done: () => number,
  stop: AbortSignal,
  struck: (count: Disturbances) => void,
): Promise<Disturbances> {
  const count = { kills: 0, pauses: 0 };
  while (!stop.aborted) {
    await progress(done, between.least + random.below(between.most - between.least), stop);
    if (stop.aborted) break;
    const server = random.pick(servers);
    const target = random.pick(targets);
    // In no order, and in the end as many of one kind as of the other.
    const isKill = count.kills === count.pauses ? random.next() < 0.5 : count.kills < count.pauses;
    // Mostly short; at times longer than clients, or the gateway, wait.
    const timeMs = random.next() < 0.8 ? 20 + random.below(600) : 2_000 + random.below(4_500);
    const strike = () => (isKill ? kill(server, target) : hold(server, target, timeMs));
    let isDone = await strike();
    while (!isDone && !stop.aborted) {
      await pause(againMs);
      isDone = await strike();
    }
    if (!isDone) break;
    count[isKill ? "kills" : "pauses"] += 1;
    struck(count);
  }
  return count;
}

/** Under load, a disturbance has something to disturb. */
async function progress(done: () => number, more: number, stop: AbortSignal): Promise<void> {
  const wanted = done() + more;
  while (done() < wanted && !stop.aborted) await pause(20);
}

async function pidsOf(server: KeysteadServer, target: (typeof targets)[number]): Promise<number[]> {
  const { gateway, signer } = await server.children();
  const wanted = target === "both" ? [gateway, signer] : [target === "gateway" ? gateway : signer];
  return wanted.filter((pid) => pid !== undefined);
}

/** False when nobody was there to be killed. */
async function kill(server: KeysteadServer, target: (typeof targets)[number]): Promise<boolean> {
  const killed = (await pidsOf(server, target)).filter(killIfThere);
  return killed.length > 0;
}

/** False when nobody was there to be paused. */
async function hold(server: KeysteadServer, target: (typeof targets)[number], timeMs: number): Promise<boolean> {
  const paused = (await pidsOf(server, target)).filter((pid) => signal(pid, "SIGSTOP"));
  if (paused.length === 0) return false;
  await pause(timeMs);
  // The launcher may have ended a silent one meanwhile; its number is not given to another process so soon.
  for (const pid of paused) signal(pid, "SIGCONT");
  return true;
}

/** False when it ended between the look and the signal. */
function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

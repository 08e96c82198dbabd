/**
 * This version and an earlier one beside each other, each on a database of its own. They are measured in turn, so that a host that slows
 * down slows both.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { type Database, type DatabaseName, openDatabase } from "./databases.ts";
import type { EarlierBuild } from "./earlier_build.ts";
import type { Load } from "./load.ts";
import type { Job } from "./load_messages.ts";
import { accountOf, type PhaseResult } from "./measure.ts";
import { timedStart } from "./start_time.ts";

export type Side = {
  database: Database;
  server: KeysteadServer;
  signWith: readonly string[];
  /** What was measured so far. */
  phases: PhaseResult[];
  startMs: number[];
  /** Once more, after it was stopped. */
  start(): Promise<{ server: KeysteadServer; ms: number }>;
  remove(): Promise<void>;
};

export type Sides = { before: Side; now: Side };

const connections = 16;

export async function openSides(name: DatabaseName, earlier: EarlierBuild): Promise<Sides> {
  const before = await openSide(name, earlier.folder);
  try {
    return { before, now: await openSide(name) };
  } catch (error) {
    await before.remove();
    throw error;
  }
}

export async function removeSides({ before, now }: Sides): Promise<void> {
  await before.remove();
  await now.remove();
}

/** Both, so often; whichever was first is second in the next round. */
export async function inTurn(
  { before, now }: Sides,
  rounds: number,
  turn: (side: Side, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    for (const side of round % 2 === 0 ? [before, now] : [now, before]) await turn(side, round);
  }
}

async function openSide(name: DatabaseName, checkout?: string): Promise<Side> {
  const database = await openDatabase[name]();
  const folder = await mkdtemp(join(tmpdir(), "keystead-side-"));
  const databaseUrl = await database.freshUrl();
  const options = {
    dataFolder: join(folder, "data"),
    ...(checkout !== undefined && { checkout }),
    ...(databaseUrl !== undefined && { databaseUrl }),
  };
  const server = await startKeystead(options);
  return {
    ...{ database, server, signWith: [], phases: [], startMs: [] },
    start: () => timedStart(options),
    async remove() {
      await server.stop();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function warmUp(load: Load, side: Side, requests: number): Promise<void> {
  const { born } = await load.run({ ...jobOf(side, "create_wallet", 1), connections: 1 });
  side.signWith = born;
  await load.run(jobOf(side, "sign_raw_payload", requests));
  await side.database.settle();
}

export function jobOf({ server, signWith }: Side, endpoint: Job["endpoint"], requests: number): Job {
  return { account: accountOf(server), endpoint, signWith, connections, seconds: 600, requests };
}

/**
 * `npm run bench -- --scale`: what an activity costs when there are few sub-organizations, and when there are many. Two
 * servers run side by side and are measured in turn, so that a host that slows down slows both.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { type Database, type DatabaseName, openDatabase } from "./databases.ts";
import type { Load } from "./load.ts";
import type { Job } from "./load_messages.ts";
import { accountOf, measureJob, type PhaseResult, summarise } from "./measure.ts";

export type ScalePlan = { few: number; many: number; rounds: number; requests: number };

/** What is asked of both servers. */
const phases = ["create a sub-organization", "in one of few active ones", "in one not used before"] as const;
type Phase = (typeof phases)[number];

type Side = {
  server: KeysteadServer;
  database: Database;
  /** Every sub-organization, those that were never used since their birth at the end. */
  unused: string[];
  active: string[];
  results: Record<Phase, PhaseResult[]>;
  remove(): Promise<void>;
};

/** Used again and again. Fewer than any cache holds, however many there are beside them. */
const activeCount = 100;

export type ScaleReport = { database: DatabaseName; few: number; many: number; rows: ScaleRow[] };
export type ScaleRow = { phase: Phase; fewUs: number; manyUs: number; ratio: number };

export const scaleTarget = 1.2;

export async function measureScale(load: Load, name: DatabaseName, plan: ScalePlan): Promise<ScaleReport> {
  const few = await open(load, name, plan.few);
  const many = await open(load, name, plan.many);
  try {
    // The first round warms up what compiles just in time, and is forgotten.
    for (let round = 0; round <= plan.rounds; round++) {
      for (const phase of phases) {
        for (const side of round % 2 === 0 ? [few, many] : [many, few]) {
          const result = await measure(load, side, phase, plan.requests);
          if (round > 0) side.results[phase].push(result);
        }
      }
    }
    const rows = phases.map((phase) => {
      const [fewUs, manyUs] = [costOf(few.results[phase]), costOf(many.results[phase])];
      return { phase, fewUs, manyUs, ratio: manyUs / fewUs };
    });
    return { database: name, few: plan.few, many: plan.many, rows };
  } finally {
    await few.remove();
    await many.remove();
  }
}

/** Gateway, signer and the database's own processes. */
function costOf(results: readonly PhaseResult[]): number {
  const { gatewayUs, signerUs, databaseUs } = summarise(results);
  return gatewayUs + signerUs + databaseUs;
}

async function open(load: Load, name: DatabaseName, count: number): Promise<Side> {
  const database = await openDatabase[name]();
  const folder = await mkdtemp(join(tmpdir(), "keystead-scale-"));
  const databaseUrl = await database.freshUrl();
  const server = await startKeystead({
    dataFolder: join(folder, "data"),
    ...(databaseUrl !== undefined && { databaseUrl }),
  });
  const side: Side = {
    server,
    database,
    unused: [],
    active: [],
    results: { [phases[0]]: [], [phases[1]]: [], [phases[2]]: [] } as Side["results"],
    async remove() {
      await server.stop();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  const portion = 5_000;
  while (side.unused.length < count) {
    const requests = Math.min(portion, count - side.unused.length);
    const { born } = await load.run({ ...jobOf(side, "create_sub_organization", requests), connections: 64 });
    side.unused.push(...born);
  }
  side.active = side.unused.splice(0, activeCount);
  // Names in the order of their creation would lie side by side in every index.
  for (let last = side.unused.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    const [a, b] = [side.unused[last], side.unused[other]];
    if (a !== undefined && b !== undefined) [side.unused[last], side.unused[other]] = [b, a];
  }
  await database.settle();
  return side;
}

async function measure(load: Load, side: Side, phase: Phase, requests: number): Promise<PhaseResult> {
  if (phase === "create a sub-organization") {
    const { phase: result, born } = await measureJob(
      load,
      side.database,
      side.server,
      // Few of them, or the smaller of the two would not stay small.
      jobOf(side, "create_sub_organization", Math.ceil(requests / 4)),
    );
    side.unused.unshift(...born);
    return result;
  }
  const organizationIds =
    phase === "in one of few active ones" ? side.active : side.unused.splice(-Math.ceil(requests / 2));
  const job = { ...jobOf(side, "create_user_tag", requests), organizationIds };
  return (await measureJob(load, side.database, side.server, job)).phase;
}

function jobOf({ server }: Side, endpoint: Job["endpoint"], requests: number): Job {
  return { account: accountOf(server), endpoint, connections: 16, seconds: 600, requests };
}

export function scaleText({ database, few, many, rows }: ScaleReport): string {
  const lines = rows.map(
    ({ phase, fewUs, manyUs, ratio }) =>
      `${database.padEnd(9)} ${phase.padEnd(27)} ${fewUs.toFixed(0).padStart(6)} µs at ${few}, ` +
      `${manyUs.toFixed(0).padStart(6)} µs at ${many}: ${ratio.toFixed(2)}   (target ${scaleTarget})`,
  );
  return lines.join("\n");
}

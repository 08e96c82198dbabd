/**
 * `npm run bench -- --scale`: what an activity costs when there are few sub-organizations, and when there are many; with
 * `--wallets`, a signature when one organization has few wallets, and many. Two servers run side by side and are measured in
 * turn, so that a host that slows down slows both.
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

/** What there is few or many of: how one is made, and how it is used. */
const subjects = {
  subOrganizations: {
    make: "create_sub_organization",
    use: "create_user_tag",
    among: (ids: readonly string[]) => ({ organizationIds: ids }),
    names: {
      make: "create a sub-organization",
      useActive: "in one of few active ones",
      useNew: "in one not used before",
      again: "a body that comes again and again",
    },
  },
  wallets: {
    make: "create_wallet",
    use: "sign_raw_payload",
    among: (ids: readonly string[]) => ({ signWith: ids }),
    names: {
      make: "create a wallet",
      useActive: "sign with one of few active ones",
      useNew: "with one not used before",
      again: "a body that comes again and again",
    },
  },
} as const;

export type SubjectName = keyof typeof subjects;

/** What is asked of both servers. */
const phases = ["make", "useActive", "useNew", "again"] as const;
type Phase = (typeof phases)[number];

type Side = {
  subject: (typeof subjects)[SubjectName];
  server: KeysteadServer;
  database: Database;
  /** All there are but the active ones; those that were never used since their birth at the end. */
  unused: string[];
  active: string[];
  results: Record<Phase, PhaseResult[]>;
  remove(): Promise<void>;
};

/** Used again and again. Fewer than any cache holds, however many there are beside them. */
const activeCount = 100;

export type ScaleReport = { database: DatabaseName; few: number; many: number; rows: ScaleRow[] };
export type ScaleRow = { name: string; fewUs: number; manyUs: number; ratio: number };

export const scaleTarget = 1.2;

export async function measureScale(
  load: Load,
  name: DatabaseName,
  subjectName: SubjectName,
  plan: ScalePlan,
): Promise<ScaleReport> {
  const subject = subjects[subjectName];
  const few = await open(load, name, subject, plan.few);
  const many = await open(load, name, subject, plan.many);
  try {
    // Making the many has warmed their server up already; the other one would look slow beside it.
    for (const side of [few, many]) await warmUp(load, side);
    // The first round is forgotten too.
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
      return { name: subject.names[phase], fewUs, manyUs, ratio: manyUs / fewUs };
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

async function open(load: Load, name: DatabaseName, subject: Side["subject"], count: number): Promise<Side> {
  const database = await openDatabase[name]();
  const folder = await mkdtemp(join(tmpdir(), "keystead-scale-"));
  const databaseUrl = await database.freshUrl();
  const server = await startKeystead({
    dataFolder: join(folder, "data"),
    env: { KEYSTEAD_LIMITS: JSON.stringify({ walletsPerOrganization: 1_000_000 }) },
    ...(databaseUrl !== undefined && { databaseUrl }),
  });
  const side: Side = {
    subject,
    server,
    database,
    unused: [],
    active: [],
    results: { make: [], useActive: [], useNew: [], again: [] },
    async remove() {
      await server.stop();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  const portion = 5_000;
  while (side.unused.length < count) {
    const requests = Math.min(portion, count - side.unused.length);
    const { born } = await load.run({ ...jobOf(side, subject.make, requests), connections: 64 });
    side.unused.push(...born);
    // To the terminal, not into the report: a hundred thousand take minutes.
    if (count > portion) console.error(`${name}: ${side.unused.length} of ${count}`);
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

async function warmUp(load: Load, side: Side): Promise<void> {
  const { subject, active } = side;
  await load.run({ ...jobOf(side, subject.make, 500), connections: 16 });
  await load.run({ ...jobOf(side, subject.use, 10_000), ...subject.among(active) });
  await side.database.settle();
}

async function measure(load: Load, side: Side, phase: Phase, requests: number): Promise<PhaseResult> {
  const { subject, database, server } = side;
  if (phase === "make") {
    // Few of them, or the smaller of the two would not stay small.
    const job = jobOf(side, subject.make, Math.ceil(requests / 4));
    const { phase: result, born } = await measureJob(load, database, server, job);
    side.unused.unshift(...born);
    return result;
  }
  if (phase === "again") {
    return (await measureJob(load, database, server, jobOf(side, "create_user_tag_again", requests))).phase;
  }
  // Each is used twice: a tag is created and deleted.
  const among = phase === "useActive" ? side.active : side.unused.splice(-Math.ceil(requests / 2));
  const job = { ...jobOf(side, subject.use, requests), ...subject.among(among) };
  return (await measureJob(load, database, server, job)).phase;
}

function jobOf({ server }: Side, endpoint: Job["endpoint"], requests: number): Job {
  return { account: accountOf(server), endpoint, connections: 16, seconds: 600, requests };
}

export function scaleText({ database, few, many, rows }: ScaleReport): string {
  const lines = rows.map(
    ({ name, fewUs, manyUs, ratio }) =>
      `${database.padEnd(9)} ${name.padEnd(33)} ${fewUs.toFixed(0).padStart(6)} µs at ${few}, ` +
      `${manyUs.toFixed(0).padStart(6)} µs at ${many}: ${ratio.toFixed(2)}   (target ${scaleTarget})`,
  );
  return lines.join("\n");
}

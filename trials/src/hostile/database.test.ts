/**
 * A hostile database: every column, row and table of some organizations is edited, swapped, deleted or rolled back, while the server
 * runs and while it is stopped. No approval may be wrong, organizations that nothing was done to go on, the operator is told, the next
 * start refuses whatever decisions rest on, and one command names what was changed and rebuilds what can be. A sample here, with every
 * table at least once, in which one database is stopped and the other runs; everything on both with `npm run figures`. KEYSTEAD_SEED
 * repeats the choices of a run, and KEYSTEAD_DAMAGE takes only the damages whose names match.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testSource } from "@keystead/e2e/databases.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { isFull, samples } from "../../../core/test/samples.ts";
import { type Random, seededRandom, shuffled } from "../../../core/test/seeded_random.ts";
import { newBody, stampWith } from "../../../server/test/hostile_run.ts";
import { basisOf, changesIn } from "./basis.ts";
import type { Damage, Patient } from "./damage.ts";
import { damagedTables, damages } from "./damages.ts";
import { madeUpTables } from "./made_up_damages.ts";
import { type Deployment, foundDeployment, submitTo } from "./patients.ts";
import { probe } from "./probes.ts";
import {
  type Base,
  dropBase,
  keepPostgres,
  keepSqlite,
  openRaw,
  type RawDatabase,
  type Row,
  type Source,
} from "./raw_database.ts";
import {
  command,
  type Lot,
  newTotals,
  placeOf,
  serving,
  type Totals,
  type Trial,
  whileRunning,
  whileStopped,
} from "./trial.ts";

const only = process.env.KEYSTEAD_DAMAGE === undefined ? undefined : new RegExp(process.env.KEYSTEAD_DAMAGE);
const isWhole = isFull || only !== undefined;
/** In a sample one for each table, and one more. */
const patientCount = Math.max(samples.damagedOrganizations, damagedTables.length + 1);
/** In a sample each is asked a few things; the rest is asked of others. */
const wants = isFull ? undefined : 8;

const works = { stopped: whileStopped, running: whileRunning } as const;
type Mode = keyof typeof works;
type Dialect = "sqlite" | "postgres";

/** Where and how, in this order. */
function turns(random: Random): (readonly [Dialect, Mode])[] {
  const sqliteStops = [["sqlite", "stopped"] as const, ["postgres", "running"] as const];
  const postgresStops = [["sqlite", "running"] as const, ["postgres", "stopped"] as const];
  if (isWhole) return [...sqliteStops, ...postgresStops];
  return random.next() < 0.5 ? sqliteStops : postgresStops;
}

/** In a sample a lot for each table, so that each table has its turn. */
function lotsOf(random: Random): Lot[] {
  const mixed = shuffled(
    damages.filter(({ name }) => only?.test(name) ?? true),
    random,
  );
  if (isWhole) return mixed.map((damage) => [damage]);
  return [...damagedTables.map((table) => mixed.filter((damage) => damage.table === table)), mixed];
}

async function baseOf(
  t: TestContext,
  dialect: Dialect,
  deployment: Deployment,
  sqlite: Base,
): Promise<Base | undefined> {
  if (dialect === "sqlite") return sqlite;
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return undefined;
  t.after(() => dropBase(source.url));
  return keepPostgres(await sqlite.restore(), source.url, deployment.dataFolder, deployment.aside);
}

test("whatever is done to rows, nothing wrong is approved, others go on, and one command finds it", {
  timeout: testTimeoutMs,
}, async (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  const random = seededRandom(seed);
  const deployment = await foundDeployment(t, patientCount + 3);
  const sqlite = await keepSqlite(deployment.dataFolder, deployment.aside);
  for (const [dialect, mode] of turns(random)) {
    const base = await baseOf(t, dialect, deployment, sqlite);
    if (base === undefined) continue;
    const totals = newTotals();
    const trial: Trial = { deployment, base, lots: lotsOf(random), random, totals, wants, withLog: isFull };
    do await works[mode](trial);
    while (isWhole && trial.lots.length > 0);
    const { done, notPossible, answers, rebuilt, beyond, wrong, broken, unnamed, changed, approved, overwritten } =
      totals;
    t.diagnostic(
      `${dialect}, ${mode}, seed ${seed}: ${done.length} damages (${notPossible.size} not possible), answers ${JSON.stringify(answers)}, ` +
        `${rebuilt} organizations rebuilt, ${beyond} only by a backup; ` +
        (mode === "running" ? `${overwritten} written over by the server itself; ` : "") +
        `${changed} whose decisions rest on what was changed, all refused at the next start; ` +
        `${wrong.length} wrong, ${broken.length} broken, ${unnamed.length} unnamed`,
    );
    assert.deepEqual({ wrong, approved, broken, unnamed }, { wrong: [], approved: [], broken: [], unnamed: [] });
    if (only === undefined) assert.deepEqual(new Set(done.map(({ table }) => table)), new Set(damagedTables));
    if (only === undefined && isWhole) assertWhole(totals, mode);
  }
  if (only === undefined) {
    await withoutKeyring(deployment, sqlite, random);
    const harmed = await harmFirst(deployment, sqlite, random);
    t.diagnostic(`${harmed} times the first organization's state was changed: refused, named, and the others went on`);
  }
});

/** What is not possible in one table is in another; every column was changed, and every kind of damage done to somebody. */
function assertWhole({ done, notPossible, changed }: Totals, mode: Mode): void {
  const columnsOf = (all: readonly Damage[]) =>
    new Set(all.flatMap(({ table, column }) => (column && !madeUpTables.has(table) ? `${table}.${column}` : [])));
  assert.deepEqual(columnsOf(damages).difference(columnsOf(done)), new Set(), "columns that nothing was done to");
  const kindsOf = (all: readonly Damage[]) => new Set(all.map(({ what }) => what));
  assert.deepEqual(kindsOf(damages).difference(kindsOf(done)), new Set(), "damages that were done to nobody");
  assert.equal(done.length + notPossible.size, damages.length);
  assert.ok(
    notPossible.size < damages.length / 2,
    `${notPossible.size} of ${damages.length} damages were not possible`,
  );
  // While it runs, the server writes over some of it.
  const few = mode === "stopped" ? 15 : 10;
  assert.ok(changed >= few, `only ${changed} whose decisions rest on what was changed`);
}

/** The first organization is refused like any other where its state was changed, and those that belong to it go on. */
async function harmFirst(deployment: Deployment, base: Base, random: Random): Promise<number> {
  const { root, parentId, donor, witnesses } = deployment;
  const first: Patient = {
    targetOrganization: { ...donor.targetOrganization, organizationId: parentId },
    before: new Map(),
  };
  const fitting = damages.filter(({ table, column }) => column && ["organizations", "pages"].includes(table));
  let harmed = 0;
  for (const damage of shuffled(fitting, random)) {
    if (!isFull && harmed > 0) break;
    const source = await base.restore();
    const raw = await openRaw(source);
    const before = await basisOf(raw, first.targetOrganization);
    await damage.apply(raw, first, donor, random);
    const { state, isGone } = changesIn(before, await basisOf(raw, first.targetOrganization));
    await raw.close();
    if (!state || isGone) continue;
    harmed += 1;
    const { output } = await command(deployment, source, "check-database");
    assert.match(output, new RegExp(`^organization ${parentId}: `, "m"), damage.name);
    await serving(deployment, source, async (server) => {
      const path = "create_user_tag";
      const body = newBody(path, { userTagName: "First", userIds: [] }, parentId);
      const { status, text } = await submitTo(server.url, { path, body, stamp: stampWith(root, body) });
      assert.ok(status >= 500, `${damage.name}: ${text}`);
      const [witness] = witnesses as [Patient];
      const { wrong, unwell } = await probe(server.url, placeOf(deployment, witness), random, 4);
      // A statement names the list of logs, which is a page of the first organization: nothing is signed about one that was changed.
      const rest = unwell.filter((said) => !said.startsWith("get_log_statement: ") || !said.includes(parentId));
      assert.deepEqual({ wrong, rest }, { wrong: [], rest: [] }, damage.name);
    });
  }
  assert.ok(harmed > 0);
  return harmed;
}

/** The one row that belongs to nobody. While the server runs nobody looks at it; without it nothing starts, and nothing is made anew. */
const keyrings = {
  "is bent": (raw, row) => {
    const bent = Uint8Array.from(row.keyring as Uint8Array, (byte, at) => (at === 60 ? byte ^ 1 : byte));
    return raw.update("deployment", row, "keyring", bent);
  },
  "is emptied": (raw, row) => raw.update("deployment", row, "keyring", new Uint8Array()),
  "is deleted": (raw, row) => raw.remove("deployment", row),
} as const satisfies Record<string, (raw: RawDatabase, row: Row) => Promise<unknown>>;

async function harmKeyring(source: Source, how: keyof typeof keyrings): Promise<void> {
  const raw = await openRaw(source);
  const [row] = await raw.rows("deployment");
  assert.ok(row);
  await keyrings[how](raw, row);
  await raw.close();
}

async function withoutKeyring(deployment: Deployment, base: Base, random: Random): Promise<void> {
  const [witness] = deployment.witnesses;
  assert.ok(witness);
  const hows = Object.keys(keyrings) as (keyof typeof keyrings)[];
  for (const how of isFull ? hows : [random.pick(hows)]) {
    const source = await base.restore();
    await serving(deployment, source, async (server) => {
      await harmKeyring(source, how);
      const { wrong, unwell } = await probe(server.url, placeOf(deployment, witness), random, 4);
      assert.deepEqual({ wrong, unwell }, { wrong: [], unwell: [] });
    });
    for (const name of isFull ? ["serve", "check-database"] : [random.pick(["serve", "check-database"])]) {
      const { code, output } = await command(deployment, source, name);
      assert.equal(code, 1, output);
      assert.match(
        output,
        /does not belong to this database|the database is empty, but this signer remembers deployment/,
      );
    }
  }
}

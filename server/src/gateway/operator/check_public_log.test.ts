/** Rows of the public log that somebody has changed: each is named, and what follows from others comes back to the byte. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { createGatewayRig, type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { signerUnder } from "../../../test/signer_rig.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { openKeyring } from "../../signer/secrets/keyring.ts";
import type { Store } from "../../store/store.ts";
import { createCheckpoints } from "../log/checkpoints.ts";
import { checkDatabase } from "./check_database.ts";

const tables = ["logs", "log_entries", "log_tiles", "log_runs"] as const;

/** Some 300 leaves of two organizations, signed: a full tile and a part of the next. */
async function start(t: TestContext, dialect: Store["dialect"]) {
  const rig = await createGatewayRig(t, dialect);
  if (rig === undefined) return undefined;
  const { organizationId, people } = await rig.newSubOrganization(1, ["Ann"]);
  const [ann = rig.root] = people;
  const { log } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring).publicKeys;
  const checkpoints = createCheckpoints({
    ...{ ...rig, curves: nodeCurves, committer: rig.dependencies.committer },
    logKey: () => log,
    signerTrouble: () => undefined,
    onSigned: () => undefined,
  });
  for (let n = 0; n < 300; n += 1) {
    const tag = { userTagName: `tag ${n}`, userIds: [] };
    if (n % 3 === 0) await rig.submit(ann, "create_user_tag", tag, { organizationId });
    else await rig.submit(rig.root, "create_user_tag", tag);
    if (n % 50 === 0) await rig.dependencies.committer.settle();
  }
  await checkpoints.sign();
  const link = inProcess({ operations: signerUnder(rig.signer, { vouch: true }) });
  const check = (rebuilds = false) => checkDatabase(rig.store, link, log, { rebuilds });
  return { rig, check, logId: rig.places.logId ?? "", organizationId };
}

async function rowsOf({ store: { db } }: GatewayRig): Promise<string> {
  const all = [];
  for (const table of tables) {
    const rows: object[] = await db.selectFrom(table).selectAll().execute();
    all.push(rows.map((row) => JSON.stringify(row)).sort());
  }
  return JSON.stringify(all);
}

/** The first run's last leaves are followed by so many more. */
async function lengthen({ store: { db } }: GatewayRig, more: number): Promise<void> {
  const { leaves } = await db
    .selectFrom("log_runs")
    .select("leaves")
    .where("first_position", "=", 0)
    .executeTakeFirstOrThrow();
  const bent = Buffer.from(leaves);
  bent.writeUInt32BE(bent.readUInt32BE(bent.length - 4) + more, bent.length - 4);
  await db.updateTable("log_runs").set({ leaves: bent }).where("first_position", "=", 0).execute();
}

type Damage = { name: string; joinsRows?: true; do(rig: GatewayRig, logId: string): Promise<unknown>; finds: RegExp };

/** What comes back by itself. */
const rebuilt: readonly Damage[] = [
  {
    name: "an entry is changed",
    joinsRows: true,
    do: ({ store }) =>
      store.db
        .updateTable("log_entries")
        .set({ entries: randomBytes(32) })
        .where("first_position", "=", 0)
        .execute(),
    finds: /^log \S+: log_entries of tile 0: not what the leaves and their runs say/,
  },
  {
    name: "entries of the last tile are gone",
    joinsRows: true,
    do: ({ store }) => store.db.deleteFrom("log_entries").where("first_position", ">=", 256).execute(),
    finds: /^log \S+: log_entries of tile 1: not what the leaves and their runs say/,
  },
  {
    name: "organizations of entries are changed",
    do: ({ store }) =>
      store.db
        .updateTable("log_entries")
        .set({ organizations: randomBytes(16) })
        .where("first_position", "=", 0)
        .execute(),
    finds: /^log \S+: log_entries of tile 0: organizations not as in the runs/,
  },
  {
    name: "a tile is changed",
    do: ({ store }) =>
      store.db
        .updateTable("log_tiles")
        .set({ hashes: randomBytes(8_192) })
        .execute(),
    finds: /^log \S+: log_tiles 0 0: not what follows from the entries/,
  },
  {
    name: "the hash of a tile is changed",
    do: ({ store }) =>
      store.db
        .updateTable("log_tiles")
        .set({ root: randomBytes(32) })
        .execute(),
    finds: /^log \S+: log_tiles 0 0: not what follows from the entries/,
  },
  {
    name: "a tile is gone",
    do: ({ store }) => store.db.deleteFrom("log_tiles").execute(),
    finds: /^log \S+: log_tiles 0 0: not what follows from the entries/,
  },
  {
    name: "a tile stands elsewhere",
    do: ({ store }) => store.db.updateTable("log_tiles").set({ number: 7 }).execute(),
    finds: /^log \S+: log_tiles 0 7: the log is not signed that far/,
  },
  {
    name: "a tile is of another log",
    do: ({ store }) =>
      store.db
        .updateTable("log_tiles")
        .set({ log_id: "00".repeat(16) })
        .execute(),
    finds: /^log 0{32}: log_tiles: rows of a log that nobody has listed/,
  },
  {
    name: "the size of the checkpoint is changed",
    do: ({ store }) => store.db.updateTable("logs").set({ checkpoint_size: 7 }).execute(),
    finds: /^log \S+: logs: checkpoint_size is not the checkpoint's/,
  },
  {
    name: "the origin is changed",
    do: ({ store }) => store.db.updateTable("logs").set({ origin: "another" }).execute(),
    finds: /^log \S+: logs: origin is not its own/,
  },
  {
    name: "the checkpoint is changed",
    do: ({ store }) => store.db.updateTable("logs").set({ checkpoint: "nothing" }).execute(),
    finds: /^log \S+: logs: it has no checkpoint of the signer's/,
  },
  {
    name: "columns of a run are changed",
    do: ({ store }) =>
      store.db
        .updateTable("log_runs")
        .set({ last_position: 999, first_ordinal: 5 })
        .where("first_position", "=", 0)
        .execute(),
    finds: /^organization \S+: log_runs \S+ 0: last_position, first_ordinal not as in its leaves/,
  },
];

for (const dialect of dialects) {
  test(`on ${dialect} an honest log has no findings, and what is changed in it comes back to the byte`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, check, logId } = started;
    assert.deepEqual((await check()).lines.slice(0, -1), []);
    for (const damage of rebuilt) {
      await t.test(damage.name, async () => {
        const before = await rowsOf(rig);
        await damage.do(rig, logId);
        const found = await check();
        assert.equal(found.ok, false);
        assert.ok(
          found.lines.some((line) => damage.finds.test(line)),
          found.lines.join("\n"),
        );
        await check(true);
        const after = await check();
        assert.deepEqual([after.ok, after.lines.slice(0, -1)], [true, []]);
        // Rows of one tile come back as one.
        if (damage.joinsRows !== true) assert.equal(await rowsOf(rig), before);
      });
    }
  });

  test(`on ${dialect} runs that are gone, bent or made up are made anew from leaves and entries`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, check, organizationId } = started;
    const { db } = rig.store;
    const damages: Record<string, () => Promise<unknown>> = {
      gone: () => db.deleteFrom("log_runs").where("organization_id", "=", organizationId).execute(),
      "one is gone": () => db.deleteFrom("log_runs").where("first_position", "=", 0).execute(),
      bent: () =>
        db
          .updateTable("log_runs")
          .set({ leaves: randomBytes(48) })
          .where("first_position", "=", 0)
          .execute(),
      "names half a million leaves": () => lengthen(rig, 2 ** 19),
      "names some more leaves": () => lengthen(rig, 20),
      "of another log": () =>
        db
          .updateTable("log_runs")
          .set({ log_id: "00".repeat(16) })
          .where("first_position", "=", 0)
          .execute(),
    };
    for (const [name, damage] of Object.entries(damages)) {
      await damage();
      assert.equal((await check()).ok, false, name);
      await check(true);
      const { ok, lines } = await check();
      assert.deepEqual([name, ok, lines.slice(0, -1)], [name, true, []]);
    }
  });

  test(`on ${dialect} rows of nobody and rows beyond all measure take nothing else with them`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, check, logId } = started;
    const { db } = rig.store;
    const runs = async () => (await db.selectFrom("log_runs").selectAll().execute()).length;
    const before = await runs();
    const [run] = await db.selectFrom("log_runs").selectAll().where("first_position", "=", 0).execute();
    assert.ok(run);
    const bent = Buffer.from(run.leaves);
    bent.writeUInt8(bent.readUInt8(bent.length - 5) ^ 0x55, bent.length - 5);
    await db
      .insertInto("log_runs")
      .values({ ...run, organization_id: "x", leaves: bent })
      .execute();
    await db
      .insertInto("log_entries")
      .values({ log_id: logId, first_position: 2 ** 50, organizations: randomBytes(16), entries: randomBytes(32) })
      .execute();
    await check(true);
    assert.equal(await runs(), before + 1, "all honest runs are there, and nobody's, which is named");
    const { lines } = await check();
    assert.ok(
      lines.some((line) => line.startsWith("organization x:")),
      lines.join("\n"),
    );
    assert.ok(!lines.some((line) => line.includes("its rows cannot be read")), lines.join("\n"));
  });

  test(`on ${dialect} what nothing can bring back is named as lost`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, check, logId, organizationId } = started;
    const { db } = rig.store;
    await db.deleteFrom("leaves").where("organization_id", "=", organizationId).execute();
    await db.deleteFrom("log_entries").where("first_position", ">=", 256).execute();
    const { ok, lines } = await check(true);
    assert.equal(ok, false);
    const lost = `log ${logId}: log_entries of tile 1: rows are missing or changed, and the leaves do not tell what stood there; only a backup can bring it back`;
    assert.ok(lines.includes(lost), lines.join("\n"));
  });
}

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { sql } from "kysely";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { lost, rebuilt } from "../../../test/hostile_changes.ts";
import {
  type Acted,
  type Actor,
  found,
  furnishHouse,
  type TargetOrganization,
  type Teller,
} from "../../../test/hostile_story.ts";
import { dialects, openTestStore } from "../../../test/open_test_store.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { rowKeys } from "../../store/projection.ts";
import type { Store } from "../../store/store.ts";
import { commonTables, type TableName, tables } from "../../store/tables.ts";
import { findAccountsByAddress } from "../../store/wallets.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { checkDatabase } from "./check_database.ts";
import { createTally, findingsOf } from "./check_findings.ts";

type Setup = { rig: GatewayRig; deployment: TargetOrganization; neighbour: TargetOrganization };

async function createSetup(t: TestContext, dialect: Store["dialect"]): Promise<Setup | undefined> {
  const rig = await createGatewayRig(t, dialect);
  if (rig === undefined) return undefined;
  const teller = tellerOf(rig);
  const houses = [];
  for (const name of ["TargetOrganization", "Neighbour"]) {
    houses.push(await furnishHouse(teller, await found(teller, rig.root, rig.organizationId, name)));
  }
  await rig.dependencies.committer.settle();
  const [deployment, neighbour] = houses as [TargetOrganization, TargetOrganization];
  return { rig, deployment, neighbour };
}

function tellerOf(rig: GatewayRig): Teller {
  const repeat = async (actor: Actor, path: Parameters<Teller["repeat"]>[1], body: Uint8Array): Promise<Acted> => {
    const { status, result } = await rig.send(actor, path, body);
    return { body, status, result: Object.values(result)[0] };
  };
  return {
    repeat,
    act: (actor, path, parameters, organizationId) =>
      repeat(actor, path, rig.body(path, parameters, { organizationId })),
    async accountAt(_actor, organizationId, walletId, address) {
      const [account] = await findAccountsByAddress(rig.store, organizationId, walletId, address);
      return account?.wallet_account_id ?? assert.fail(`there is no account ${address}`);
    },
  };
}

function linkOf({ signer }: GatewayRig, refuseFrom = Number.POSITIVE_INFINITY): SignerLink {
  let asked = 0;
  const operations = checkingSigner(signer);
  const request = async (kind: keyof typeof operations, message: never) => {
    asked += 1;
    if (asked >= refuseFrom) throw new Fault("unavailable", "the signer stopped; try again");
    return operations[kind](message);
  };
  return {
    request: request as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
}

function run(rig: GatewayRig, rebuilds: boolean, link = linkOf(rig)): Promise<{ lines: string[]; ok: boolean }> {
  const { log } = JSON.parse(
    rig.signer.operations.hello({ protocol: protocolVersion, keyring: rig.signer.keyring }).publicKeys,
  );
  return checkDatabase(rig.store, link, log, { rebuilds });
}

/** Whatever it finds, a check alone leaves everything as it was. */
async function check(rig: GatewayRig): Promise<{ lines: string[]; ok: boolean }> {
  const before = await everythingIn(rig);
  const report = await run(rig, false);
  assert.deepEqual(await everythingIn(rig), before);
  return report;
}

const repair = (rig: GatewayRig, link?: SignerLink) => run(rig, true, link);

/** Everything in a table, to be compared. */
async function rowsOf({ store }: GatewayRig, table: TableName): Promise<unknown[]> {
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(store.db);
  return rows.map((row) => JSON.stringify({ ...row })).sort();
}

async function everythingIn(rig: GatewayRig): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const table of Object.keys(tables) as TableName[]) all[table] = await rowsOf(rig, table);
  return all;
}

for (const dialect of dialects) {
  test(`check-database on ${dialect}`, async (t) => {
    const setup = await createSetup(t, dialect);
    if (setup === undefined) return;
    const { rig, deployment, neighbour } = setup;

    await t.test(
      "what follows from pages, records and leaves is named where it was changed, and rebuilt to the byte",
      async () => {
        const untouched = await check(rig);
        assert.deepEqual(untouched, { lines: [untouched.lines.at(-1)], ok: true });
        for (const [name, { table, change, says }] of Object.entries(rebuilt)) {
          const before = await rowsOf(rig, table);
          await change(rig.store.db, deployment, neighbour);
          assert.notDeepEqual(await rowsOf(rig, table), before, name);
          const named = await check(rig);
          assert.equal(named.ok, false, name);
          assert.ok(
            named.lines.some(
              (line) => line.startsWith(`organization ${deployment.organizationId}: `) && says.test(line),
            ),
            `${name}: ${named.lines.join("\n")}`,
          );
          assert.match(named.lines.at(-1) ?? "", /^run `npx keystead check-database --repair`/);
          const mended = await repair(rig);
          assert.equal(mended.ok, true, `${name}: ${mended.lines.join("\n")}`);
          assert.ok(mended.lines.some((line) => line.endsWith("; rebuilt")));
          assert.deepEqual(await rowsOf(rig, table), before, name);
        }
        assert.deepEqual(await check(rig), untouched);
      },
    );

    await t.test("a sealed result that was changed is opened anew by the next release", async () => {
      const signed = () =>
        rig.store.db
          .selectFrom("activities")
          .select(["activity_id", "result"])
          .where("organization_id", "=", deployment.organizationId)
          .where("type", "=", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2")
          .where("status", "=", "ACTIVITY_STATUS_COMPLETED")
          .orderBy("activity_id")
          .execute();
      const before = await signed();
      assert.ok(before.length > 0);
      await rig.store.db
        .updateTable("activities")
        .set({ result: '{"r":"00"}' })
        .where("activity_id", "=", before[0]?.activity_id ?? "")
        .execute();
      assert.equal((await repair(rig)).ok, true);
      assert.deepEqual(await rig.dependencies.committer.releaseLeftovers(), []);
      assert.deepEqual(await signed(), before);
      assert.equal((await check(rig)).ok, true);
    });

    await t.test(
      "cut short anywhere it leaves every organization as it was or rebuilt, and goes on when it is run again",
      async () => {
        for (const { userTagId } of [deployment, neighbour]) {
          await rig.store.db.updateTable("user_tags").set({ tag_name: "x" }).where("tag_id", "=", userTagId).execute();
        }
        for (let refuseFrom = 1; ; refuseFrom += 3) {
          const done = await repair(rig, linkOf(rig, refuseFrom)).catch((error: unknown) => error);
          if (!(done instanceof Fault)) break;
          assert.equal(done.code, "unavailable");
        }
        const { ok, lines } = await check(rig);
        assert.equal(ok, true, lines.join("\n"));
      },
    );

    await t.test("rows that cannot be read keep nobody else from being looked at", async () => {
      await sql`update users set created_at_ms = 4611686018427387904 where user_id = ${deployment.dave.userId}`.execute(
        rig.store.db,
      );
      await rig.store.db
        .updateTable("users")
        .set({ user_name: "x" })
        .where("user_id", "=", neighbour.dave.userId)
        .execute();
      const { lines, ok } = await repair(rig);
      assert.equal(ok, false);
      assert.ok(
        lines.some((line) =>
          line.startsWith(`organization ${deployment.organizationId}: its rows cannot be read or rebuilt: `),
        ),
      );
      assert.ok(
        lines.some((line) =>
          line.startsWith(`organization ${neighbour.organizationId}: users ${neighbour.dave.userId}: user_name`),
        ),
      );
      await rig.store.db
        .updateTable("users")
        .set({ created_at_ms: 1 })
        .where("user_id", "=", deployment.dave.userId)
        .execute();
      assert.equal((await repair(rig)).ok, true);
    });

    await t.test(
      "what nothing else says is named as lost, for its own organization alone, and nothing is made up for it",
      async () => {
        for (const [name, { change, says }] of Object.entries(lost)) {
          await change(rig.store.db, deployment, neighbour);
          assert.equal((await check(rig)).ok, false, name);
          const { lines, ok } = await repair(rig);
          assert.equal(ok, false, name);
          const own = lines.filter((line) => line.startsWith(`organization ${deployment.organizationId}: `));
          assert.ok(
            own.some((line) => says.test(line) && line.endsWith("; only a backup can bring it back")),
            `${name}: ${lines.join("\n")}`,
          );
          assert.equal(
            lines.some((line) => line.includes(`organization ${neighbour.organizationId}: `)),
            false,
            lines.join("\n"),
          );
        }
      },
    );
  });

  test(`check-database on ${dialect}: more rows than are read at once are all compared`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const accountsOf = (wallet: number) =>
      Array.from({ length: 90 }, (_, n) => ({
        ...{
          curve: "CURVE_SECP256K1",
          pathFormat: "PATH_FORMAT_BIP32",
          path: `m/${wallet}/${n}`,
          addressFormat: "ADDRESS_FORMAT_ETHEREUM",
        },
        name: `Account ${wallet} ${n}`,
      }));
    for (const wallet of [0, 1, 2])
      await rig.submit(rig.root, "create_wallet", { walletName: `W ${wallet}`, accounts: accountsOf(wallet) });
    const { ok } = await check(rig);
    assert.equal(ok, true);
    // Everyone's name is the next one's: nothing is right, and nothing is free.
    const rows = await rig.store.db
      .selectFrom("wallet_accounts")
      .select(["wallet_account_id", "name_key"])
      .orderBy("wallet_account_id")
      .execute();
    for (const pass of ["free", "taken"] as const) {
      for (const [index, { wallet_account_id }] of rows.entries()) {
        const name_key = pass === "free" ? `free ${index}` : (rows[(index + 1) % rows.length]?.name_key ?? "");
        await rig.store.db
          .updateTable("wallet_accounts")
          .set({ name_key })
          .where("wallet_account_id", "=", wallet_account_id)
          .execute();
      }
    }
    const { lines } = await repair(rig);
    assert.equal(lines.filter((line) => line.endsWith("name_key not as in its record; rebuilt")).length, 270);
    assert.deepEqual(
      await rig.store.db
        .selectFrom("wallet_accounts")
        .select(["wallet_account_id", "name_key"])
        .orderBy("wallet_account_id")
        .execute(),
      rows,
    );
  });

  test(`check-database on ${dialect}: the keys it walks by are the tables' own`, async (t) => {
    const store = await openTestStore(t, dialect);
    if (store === undefined) return;
    const { rows } =
      store.dialect === "sqlite"
        ? await sql<{ table: TableName; column: string }>`select m.name as "table", c.name as "column"
              from sqlite_schema m join pragma_table_info(m.name) c where m.type = 'table' and c.pk > 0 order by m.name, c.pk`.execute(
            store.db,
          )
        : await sql<{ table: TableName; column: string }>`select t.table_name as "table", k.column_name as "column"
              from information_schema.table_constraints t join information_schema.key_column_usage k using (constraint_name)
              where t.constraint_type = 'PRIMARY KEY' and t.table_schema = 'public' order by t.table_name, k.ordinal_position`.execute(
            store.db,
          );
    for (const [table, keys] of Object.entries(rowKeys)) {
      const own = rows.filter((row) => row.table === table).map(({ column }) => column);
      assert.deepEqual(own, commonTables.some((name) => name === table) ? keys : ["organization_id", ...keys], table);
    }
  });
}

test("more findings than anybody reads are counted, and a name without end is cut", () => {
  const tally = createTally();
  const findings = findingsOf("acme", false);
  for (let n = 0; n < 6_000; n++) findings.differs(`users ${"x".repeat(10_000)}: it is missing`);
  tally.add(findings);
  const { lines, ok } = tally.report(1);
  assert.equal(ok, false);
  assert.equal(lines.length, 5_003);
  assert.equal(lines[0], `organization acme: users ${"x".repeat(64)}…: it is missing`.replace("…:", "…"));
  assert.equal(lines[5_000], "1000 further findings are not listed");
});

/** What a repair must not touch, what it must not believe, and whom it keeps waiting. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { decodeHeader, encodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, encodeLeaf } from "@keystead/core/log/leaf.ts";
import { sql } from "kysely";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { checkingSigner, type SignerRig } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import { sortKey } from "../../store/key_rows.ts";
import type { Store } from "../../store/store.ts";
import { type TableName, type Tables, tables } from "../../store/tables.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { checkDatabase } from "./check_database.ts";
import type { Report } from "./check_log.ts";

const account = {
  ...{ curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path: "m/0" },
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};

/** An organization with these wallets, each in a version of its own. */
async function withWallets(
  t: TestContext,
  dialect: Store["dialect"],
  names: readonly string[],
): Promise<GatewayRig | undefined> {
  const rig = await createGatewayRig(t, dialect);
  for (const walletName of names) await rig?.submit(rig.root, "create_wallet", { walletName, accounts: [account] });
  await rig?.dependencies.committer.settle();
  return rig;
}

type Asked = (kind: string) => Promise<void>;

function run(rig: GatewayRig, rebuilds: boolean, signer = rig.signer, asked: Asked = async () => {}): Promise<Report> {
  const operations = checkingSigner(signer);
  const request = async (kind: keyof typeof operations, message: never) => {
    await asked(kind);
    return operations[kind](message);
  };
  const link: SignerLink = {
    request: request as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
  const { log } = JSON.parse(operations.hello({ protocol: protocolVersion, keyring: signer.keyring }).publicKeys);
  return checkDatabase(rig.store, link, log, { rebuilds });
}

async function everythingIn({ store }: GatewayRig): Promise<string> {
  const all: Record<string, unknown> = {};
  for (const table of Object.keys(tables) as TableName[]) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(store.db);
    all[table] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return JSON.stringify(all, undefined, 1);
}

const headOf = ({ store }: GatewayRig) =>
  store.db.selectFrom("organizations").select(["header", "directory", "version"]).executeTakeFirstOrThrow();

/** The leaf that led to a version, as its row has it. */
const leafOf = ({ store }: GatewayRig, version: number) =>
  store.db.selectFrom("leaves").selectAll().where("version", "=", version).executeTakeFirstOrThrow();

/** A signer of the same deployment that has released other things. */
function signerThatReleased(rig: GatewayRig, version: number, digest: Uint8Array | undefined): SignerRig {
  const { deploymentId } = rig.signer.memory;
  assert.ok(deploymentId);
  const other = rig.signer.restart({ folder: mkdtempSync(join(tmpdir(), "keystead-memory-")) });
  other.memory.rememberDeployment(deploymentId);
  const organizationId = fromHex(rig.organizationId.replaceAll("-", ""));
  if (digest) other.memory.rememberRelease(rig.signer.clock.nowMs, [{ organizationId, pin: { version, digest } }], []);
  return other;
}

for (const dialect of dialects) {
  test(`on ${dialect} a name that begins like a loosened one hides nothing, and nothing is written before a repair`, async (t) => {
    const rig = await withWallets(t, dialect, ["~treasury", "plain"]);
    if (rig === undefined) return;
    const sound = await everythingIn(rig);
    await rig.store.db
      .updateTable("wallets")
      .set({ wallet_name: "PAY HERE", created_at_ms: 5 })
      .where("wallet_name", "=", "~treasury")
      .execute();
    const changed = await everythingIn(rig);
    const { ok, lines } = await run(rig, false);
    assert.equal(ok, false);
    assert.match(lines[0] ?? "", /: wallets [0-9a-f-]{36}: created_at_ms, wallet_name not as in its record$/);
    assert.equal(await everythingIn(rig), changed);
    assert.equal((await run(rig, true)).ok, true);
    assert.equal(await everythingIn(rig), sound);
  });

  test(`on ${dialect} a key that is called proven and is not, or the reverse, is found and put right`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    await rig.newPerson("Dave");
    await rig.dependencies.committer.settle();
    const sound = await everythingIn(rig);
    const flipped = sql<number>`1 - proven`;
    await rig.store.db.updateTable("credentials").set({ proven: flipped }).execute();
    const { ok, lines } = await run(rig, false);
    assert.equal(ok, false);
    const found = lines.filter((line) => /: credentials [0-9a-f-]{36}: proven not as in the state$/.test(line));
    assert.equal(found.length, 2, lines.join("\n"));
    assert.equal((await run(rig, true)).ok, true);
    assert.equal(await everythingIn(rig), sound);
  });

  test(`on ${dialect} records beside a leaf that made nothing are found, and go`, async (t) => {
    const rig = await withWallets(t, dialect, ["one"]);
    if (rig === undefined) return;
    await rig.newPerson("Dave");
    await rig.dependencies.committer.settle();
    const sound = await everythingIn(rig);
    const leaves = await rig.store.db.selectFrom("leaves").selectAll().orderBy("number").execute();
    const maker = leaves.find(({ made }) => made !== null);
    const other = leaves.findLast(({ made, activity_id }) => made === null && activity_id !== null);
    assert.ok(maker && other);
    await rig.store.db.updateTable("leaves").set({ made: maker.made }).where("number", "=", other.number).execute();
    const { ok, lines } = await run(rig, false);
    assert.equal(ok, false);
    const found = lines.filter((line) => /: leaves [0-9a-f]{32} \d+: made, though it tells of nothing new$/.test(line));
    assert.equal(found.length, 1, lines.join("\n"));
    assert.equal((await run(rig, true)).ok, true);
    assert.equal(await everythingIn(rig), sound);
  });

  test(`on ${dialect} rows that stand under each other's ids come back whole, and copies go`, async (t) => {
    const rig = await withWallets(t, dialect, ["one", "two", "three"]);
    if (rig === undefined) return;
    const sound = await everythingIn(rig);
    const wallets = await rig.store.db.selectFrom("wallets").selectAll().orderBy("wallet_id").execute();
    const [one, two, three] = wallets.map(({ wallet_id }) => wallet_id) as [string, string, string];
    const move = (from: string, to: string) =>
      rig.store.db.updateTable("wallets").set({ wallet_id: to }).where("wallet_id", "=", from).execute();
    await move(one, "free");
    await move(three, one);
    await move(two, three);
    await move("free", two);
    const [copied] = wallets as [Tables["wallets"]];
    // The walk meets one copy before all others and one behind them.
    for (const wallet_id of ["!first", "~last"]) {
      const copy = { ...copied, wallet_id, name_key: wallet_id, blind_index: null };
      await rig.store.db.insertInto("wallets").values(copy).execute();
    }
    const { ok, lines } = await run(rig, true);
    assert.equal(ok, true, lines.join("\n"));
    assert.equal(await everythingIn(rig), sound);
  });

  test(`on ${dialect} a row whose place another's takes is kept, and the one in its place, too`, async (t) => {
    const rig = await withWallets(t, dialect, ["one", "two"]);
    if (rig === undefined) return;
    const [one] = await rig.store.db.selectFrom("wallets").selectAll().where("wallet_name", "=", "one").execute();
    assert.ok(one);
    const { wallet_id: id, record, sealed } = one;
    await rig.store.db.updateTable("wallets").set({ wallet_id: "moved" }).where("wallet_id", "=", id).execute();
    const strange = { ...one, name_key: "strange", blind_index: null, record: new Uint8Array(80) };
    await rig.store.db.insertInto("wallets").values(strange).execute();
    const { ok, lines } = await run(rig, true);
    assert.equal(ok, false);
    assert.ok(lines.some((line) => /: a row that is not its own stands in its place; only a backup/.test(line)));
    const kept = await rig.store.db.selectFrom("wallets").selectAll().execute();
    assert.equal(kept.length, 3);
    assert.ok(kept.some((row) => Buffer.compare(row.record, record) === 0 && Buffer.compare(row.sealed, sealed) === 0));
    await rig.store.db.deleteFrom("wallets").where("wallet_id", "=", id).execute();
    assert.equal((await run(rig, true)).ok, true);
  });

  test(`on ${dialect} nothing is rebuilt to a state that was set back, forked, or that nothing leads to`, async (t) => {
    const rig = await withWallets(t, dialect, ["w"]);
    if (rig === undefined) return;
    const old = await headOf(rig);
    await rig.submit(rig.root, "create_user_tag", { userTagName: "newest", userIds: [] });
    await rig.submit(rig.root, "create_user_tag", { userTagName: "newer", userIds: [] });
    await rig.dependencies.committer.settle();
    const newest = await headOf(rig);
    const sound = await everythingIn(rig);
    const put = (head: Partial<Tables["organizations"]>) =>
      rig.store.db.updateTable("organizations").set(head).execute();
    const refused = async (says: RegExp, signer?: SignerRig) => {
      const before = await everythingIn(rig);
      const { ok, lines } = await run(rig, true, signer);
      assert.equal(ok, false);
      const own = lines.filter((line) => line.startsWith(`organization ${rig.organizationId}: `));
      assert.match(own[0] ?? "", says);
      assert.match(
        own[0] ?? "",
        /Nothing of it is rebuilt: put the right row back; .*`npx keystead accept-database` and then/,
      );
      assert.equal(await everythingIn(rig), before);
    };

    await put(old);
    await rig.store.db.updateTable("leaves").set({ activity_id: "x" }).where("version", "=", 2).execute();
    await refused(new RegExp(`it is SET BACK to version ${old.version}: version ${newest.version} was released`));
    await put(newest);
    assert.equal((await run(rig, true)).ok, true);
    assert.equal(await everythingIn(rig), sound);

    const at = async (version: number) => sha256(withoutMac((await leafOf(rig, version)).header ?? new Uint8Array()));
    const forked = signerThatReleased(rig, newest.version, new Uint8Array(32));
    await refused(/version \d+ is another than the one that was released/, forked);
    const unled = signerThatReleased(rig, old.version, new Uint8Array(32));
    await refused(/version \d+ is NOT LED TO by the leaves from version \d+, which was released/, unled);
    const signer = signerThatReleased(rig, old.version, await at(old.version));
    // The columns beside a leaf do not lead anywhere: the leaf does.
    await rig.store.db
      .updateTable("leaves")
      .set({ header: null })
      .where("version", "=", old.version + 1)
      .execute();
    await run(rig, true, signer);
    assert.equal((await run(rig, false, signer)).lines.filter((line) => /NOT LED|header/.test(line)).length, 0);
    const { boot, number } = await leafOf(rig, old.version + 1);
    await rig.store.db.deleteFrom("leaves").where("boot", "=", boot).where("number", "=", number).execute();
    await refused(/NOT LED TO/, signerThatReleased(rig, old.version, await at(old.version)));
    await refused(/NOT LED TO by the leaves from version 0/, signerThatReleased(rig, 0, undefined));
  });

  test(`on ${dialect} leaves that nobody marked place and date nothing, and rubbish stops nobody`, async (t) => {
    const rig = await withWallets(t, dialect, ["one"]);
    if (rig === undefined) return;
    const { version } = await headOf(rig);
    const sound = await everythingIn(rig);
    const row = await leafOf(rig, version);
    const leaf = { ...decodeLeaf(withoutMac(row.leaf)), blind: new Uint8Array(16) };
    const header = encodeHeader({ ...decodeHeader(withoutMac(leaf.header ?? new Uint8Array())), version: 900 });
    const mac = new Uint8Array(row.leaf.length - withoutMac(row.leaf).length);
    const forge = (content: Uint8Array) => Buffer.concat([content, mac]);
    const forged = [
      { number: 1, version: 900, leaf: forge(encodeLeaf({ ...leaf, header: forge(header) })) },
      {
        number: 2,
        version: null,
        leaf: forge(encodeLeaf({ ...leaf, event: "SUBMITTED", header: undefined, timeMs: 7 })),
      },
      { number: 3, version: null, leaf: new Uint8Array([1, 2, 3]) },
    ];
    for (const each of forged) {
      await rig.store.db
        .insertInto("leaves")
        .values({ ...row, boot: "ff", header: null, sealed: null, ...each })
        .execute();
    }
    await rig.store.db
      .updateTable("wallet_accounts")
      .set({ sort_key: sortKey(900, 0) })
      .execute();
    await rig.store.db
      .updateTable("activities")
      .set({ created_at_ms: 7 })
      .where("state_version", "=", version)
      .execute();
    const { lines } = await run(rig, true);
    assert.equal(lines.filter((line) => /leaves ff \d: the leaf is not the signer's/.test(line)).length, 3);
    assert.ok(
      lines.some((line) => /wallet_accounts .*: sort_key not as in its record; rebuilt/.test(line)),
      lines.join("\n"),
    );
    assert.ok(lines.some((line) => /activities .*: created_at_ms not as in the log; rebuilt/.test(line)));
    await rig.store.db.deleteFrom("leaves").where("boot", "=", "ff").execute();
    assert.equal(await everythingIn(rig), sound);
  });
}

test("on postgres whoever commits waits for a repair, and for no check", async (t) => {
  const rig = await withWallets(t, "postgres", ["one"]);
  if (rig === undefined) return;
  const { store, organizationId } = rig;
  assert.ok(store.dialect === "postgres");
  const outcomes = async (rebuilds: boolean) => {
    const seen = new Set<string>();
    await run(rig, rebuilds, rig.signer, async (kind) => {
      if (kind !== "vouch") return;
      // As a commit does it, but without waiting.
      const share = "select 1 from organizations where organization_id = $1 for share nowait";
      seen.add(
        await store.pool.query(share, [organizationId]).then(
          () => "free",
          ({ code }) => code,
        ),
      );
    });
    return [...seen];
  };
  assert.deepEqual(await outcomes(true), ["55P03"]);
  assert.deepEqual(await outcomes(false), ["free"]);
});

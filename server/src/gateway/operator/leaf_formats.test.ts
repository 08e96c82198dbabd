/** A log that began in format 1 and goes on in format 2: what checks, repairs and releases make of rows of both. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import type { NamedState } from "@keystead/core/log/leaf_format_2.ts";
import { createGatewayRig, type GatewayRig, type Person } from "../../../test/gateway_rig.ts";
import { asFormat1, changedLeaf } from "../../../test/leaf_formats.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { checkDatabase } from "./check_database.ts";
import { checkLog, type Report } from "./check_log.ts";

const account = {
  ...{ curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path: "m/0" },
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};

type Checks = { log(): Promise<Report>; database(rebuilds?: boolean): Promise<Report> };

function checksOf({ signer, store }: GatewayRig): Checks {
  const operations = checkingSigner(signer);
  const request = async (kind: keyof typeof operations, message: never) => operations[kind](message);
  const link: SignerLink = {
    request: request as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
  const { log } = JSON.parse(operations.hello({ protocol: protocolVersion, keyring: signer.keyring }).publicKeys);
  return {
    log: () => checkLog(store, link, log),
    database: (rebuilds = false) => checkDatabase(store, link, log, { rebuilds }),
  };
}

const leavesOf = ({ store }: GatewayRig) =>
  store.db.selectFrom("leaves").selectAll().orderBy("organization_id").orderBy("number").execute();

/** Every leaf as the release before would have written it. Results that are sealed belong to the bytes that they were sealed with. */
async function rewrite(rig: GatewayRig): Promise<number> {
  const rows = (await leavesOf(rig)).filter(({ sealed }) => sealed === null);
  for (const { organization_id, boot, number, leaf } of rows) {
    await rig.store.db
      .updateTable("leaves")
      .set({ leaf: asFormat1(rig.signer, leaf) })
      .where("organization_id", "=", organization_id)
      .where("boot", "=", boot)
      .where("number", "=", number)
      .execute();
  }
  return rows.length;
}

type Setup = { rig: GatewayRig; child: string; people: Person[]; fingerprint: string; older: number };

/** A wallet, a child with an activity that waits, a refusal and a failure, all in format 1. */
async function createSetup(t: TestContext, dialect: Store["dialect"]): Promise<Setup | undefined> {
  const rig = await createGatewayRig(t, dialect, Date.now(), false);
  if (rig === undefined) return undefined;
  await rig.submit(rig.root, "create_wallet", { walletName: "Old", accounts: [account] });
  const dave = await rig.newPerson("Dave");
  await assert.rejects(rig.submit(dave, "create_user_tag", { userTagName: "x", userIds: [] }));
  await assert.rejects(rig.submit(rig.root, "delete_user_tags", { userTagIds: [dave.userId] }));
  const { organizationId: child, people } = await rig.newSubOrganization(2, ["Ann", "Bob"]);
  const { fingerprint, status } = await rig.submit(
    people[0] as Person,
    "create_user_tag",
    { userTagName: "waits", userIds: [] },
    { organizationId: child },
  );
  assert.equal(status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  await rig.dependencies.committer.settle();
  return { rig, child, people, fingerprint, older: await rewrite(rig) };
}

for (const dialect of dialects) {
  test(`on ${dialect} rows of both formats are side by side, and every check passes`, async (t) => {
    const setup = await createSetup(t, dialect);
    if (setup === undefined) return;
    const { rig, child, people, fingerprint, older } = setup;
    const { log, database } = checksOf(rig);
    const before = await leavesOf(rig);
    assert.equal(before.length, older);
    assert.deepEqual(await log(), { ok: true, lines: [`${older} leaves in the database, 0 released ones missing`] });
    assert.equal((await database()).ok, true);

    const voted = await rig.submit(people[1] as Person, "approve_activity", { fingerprint }, { organizationId: child });
    assert.equal(voted.status, "ACTIVITY_STATUS_COMPLETED");
    await rig.submit(rig.root, "create_wallet", { walletName: "New", accounts: [account] });
    await rig.newSubOrganization(1, ["Kim"]);
    await rig.dependencies.committer.settle();

    const rows = await leavesOf(rig);
    const formats = rows.map(({ leaf }) => decodeLeaf(withoutMac(leaf)).format);
    assert.deepEqual(
      [1, 2].map((format) => formats.filter((each) => each === format).length),
      [older, 4],
    );
    for (const row of before) assert.ok(rows.some(({ leaf }) => Buffer.compare(leaf, row.leaf) === 0));
    assert.equal((await log()).ok, true);
    const checked = await database();
    assert.deepEqual({ ok: checked.ok, lines: checked.lines.slice(0, -1) }, { ok: true, lines: [] });
  });

  test(`on ${dialect} a leaf of format 1 that was left behind is released, that of a birth with it`, async (t) => {
    const setup = await createSetup(t, dialect);
    if (setup === undefined) return;
    const { rig, older } = setup;
    const rows = await leavesOf(rig);
    const marks = rows.map(({ organization_id, boot, number }) => ({ organization_id, boot, number }));
    await rig.store.db.insertInto("unreleased").values(marks).execute();
    assert.deepEqual(await rig.dependencies.committer.releaseLeftovers(), []);
    const left = await rig.store.db.selectFrom("unreleased").selectAll().execute();
    assert.deepEqual([marks.length, left.length], [older, 0]);
    assert.equal((await checksOf(rig).log()).ok, true);
  });

  test(`on ${dialect} a state of another organization that a leaf names must be in that one's log`, async (t) => {
    const setup = await createSetup(t, dialect);
    if (setup === undefined) return;
    const { rig, child } = setup;
    const { log } = checksOf(rig);
    const rows = await leavesOf(rig);
    const row =
      rows.find(({ organization_id, version }) => organization_id === child && version === 2) ?? assert.fail();
    const [own] = decodeLeaf(withoutMac(row.leaf)).states;
    const parent = rows.find(({ organization_id, version }) => organization_id === rig.organizationId && version === 2);
    assert.ok(own && parent?.header);
    const header = withoutMac(parent.header);
    const theirs = { organizationId: uuidToBytes(rig.organizationId), version: 2, digest: sha256(header) };
    const reportWith = async (read: NamedState): Promise<Report> => {
      const leaf = changedLeaf(rig.signer, row.leaf, { states: [own, read] });
      await rig.store.db
        .updateTable("leaves")
        .set({ leaf })
        .where("organization_id", "=", child)
        .where("version", "=", 2)
        .execute();
      return log();
    };
    assert.equal((await reportWith(theirs)).ok, true);
    for (const read of [
      { ...theirs, digest: own.digest },
      { ...theirs, version: 99 },
    ]) {
      const { ok, lines } = await reportWith(read);
      assert.equal(ok, false);
      assert.equal(
        lines[0],
        `organization ${rig.organizationId}: the leaf that led to version ${read.version}, which a leaf of organization ${child} names, is MISSING`,
      );
    }
  });

  test(`on ${dialect} columns beside leaves of format 1 are put right, and a missing one is named`, async (t) => {
    const setup = await createSetup(t, dialect);
    if (setup === undefined) return;
    const { rig } = setup;
    const { log, database } = checksOf(rig);
    const sound = await leavesOf(rig);
    await rig.store.db.updateTable("leaves").set({ version: null, header: null }).where("version", "=", 2).execute();
    const damaged = await database();
    assert.equal(damaged.ok, false);
    assert.ok(damaged.lines.some((line) => /leaves \S+ \d+: version, header not as in the leaf/.test(line)));
    assert.equal((await database(true)).ok, true);
    assert.deepEqual(await leavesOf(rig), sound);

    // On it the child was born.
    const parent = await rig.store.db
      .selectFrom("organizations")
      .select(["organization_id", "version"])
      .where("parent_id", "is", null)
      .executeTakeFirstOrThrow();
    await rig.store.db
      .deleteFrom("leaves")
      .where("organization_id", "=", parent.organization_id)
      .where("version", "=", parent.version)
      .execute();
    const { lines, ok } = await log();
    assert.equal(ok, false);
    const missing = `organization ${parent.organization_id}: the leaf that led to version ${parent.version}`;
    assert.ok(lines.includes(`${missing} is MISSING`));
    assert.ok(lines.includes(`${missing}, on which organization ${setup.child} was born, is MISSING`));
  });
}

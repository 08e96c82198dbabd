/** A gateway joins a signer after whatever has happened to either: the database has every place that the signer gave, and no other. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { entryOf } from "@keystead/core/tlog/entry.ts";
import { createGatewayRig, type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import type { SignerRig } from "../../../test/signer_rig.ts";
import type { Reply } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import { findLeaf } from "../../store/leaves.ts";
import { type NamedPlace, readEntries } from "../../store/log_rows.ts";
import { findStoredEnd, listEntries, listLogs } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { storedPlaces } from "../../store/stored_places.ts";
import { acceptDatabase } from "../operator/accept_database.ts";
import { LogPlaces } from "../places/log_places.ts";
import { createCommitter } from "../submit/committer.ts";
import { joinLog } from "./join_log.ts";

/** A gateway that has just started. */
function startGateway({ store }: GatewayRig, { operations }: Pick<SignerRig, "operations">) {
  const notes: string[] = [];
  const plain = inProcess({ operations });
  const places = new LogPlaces(plain);
  const link = places.watch(plain);
  const committer = createCommitter(store, link, { places });
  const note = (message: string) => notes.push(message);
  return { joining: { store, link, committer, places, sign: async () => undefined, note }, notes };
}

function copyOf(t: TestContext, folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), "keystead-signer-"));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(folder, copy, { recursive: true });
  return copy;
}

async function all(store: Store, logId: string): Promise<NamedPlace[]> {
  const places: NamedPlace[] = [];
  for await (const portion of storedPlaces(store, logId, 0)) places.push(...portion);
  return places;
}

/** That the rows are the signer's log: every place, with the entry of the leaf that it names. The events, with their ordinals. */
async function assertWhole({ store }: GatewayRig, { operations }: SignerRig): Promise<string[]> {
  const state = stateOf(operations.logState({}));
  const logId = toHex(state.logId);
  assert.equal(await findStoredEnd(store, logId), state.size);
  const places = await all(store, logId);
  assert.deepEqual(
    places.map(({ position }) => position),
    Array.from({ length: state.size }, (_, position) => position),
  );
  const entries = (await listEntries(store, logId, 0, 256)).flatMap((row) => readEntries(row));
  const events: string[] = [];
  for (const { organizationId, boot, number, ordinal, position } of places) {
    const row = await findLeaf(store, organizationId, boot, number);
    assert.ok(row !== undefined);
    const leaf = withoutMac(row.leaf);
    assert.deepEqual(Buffer.from(entries[position] ?? []), Buffer.from(entryOf(sha256(leaf), ordinal)));
    events.push(`${decodeLeaf(leaf).event} ${ordinal}`);
  }
  assert.deepEqual(await store.db.selectFrom("unreleased").selectAll().execute(), []);
  return events;
}

function stateOf(state: Reply<"logState">) {
  assert.ok(state !== undefined);
  return state;
}

async function rowsOf({ store: { db } }: GatewayRig): Promise<string> {
  const entries = await db.selectFrom("log_entries").selectAll().orderBy("log_id").orderBy("first_position").execute();
  const runs = await db
    .selectFrom("log_runs")
    .selectAll()
    .orderBy("organization_id")
    .orderBy("first_position")
    .execute();
  return JSON.stringify([entries, runs]);
}

for (const dialect of dialects) {
  const rigOf = (t: TestContext) => createGatewayRig(t, dialect);

  test(`on ${dialect} what was released is stored in its order, each organization's counted from 1`, async (t) => {
    const rig = await rigOf(t);
    if (rig === undefined) return;
    await rig.newPerson("Ann");
    await rig.newSubOrganization(1, ["Bob"]);
    await rig.dependencies.committer.settle();
    assert.deepEqual(await assertWhole(rig, rig.signer), ["BIRTH 1", "COMPLETED 2", "COMPLETED 3", "BIRTH 1"]);
  });

  test(`on ${dialect} a gateway that was killed before it stored places asks for them at its next start`, async (t) => {
    const rig = await rigOf(t);
    if (rig === undefined) return;
    for (const name of ["Ann", "Bob", "Cal"]) await rig.newPerson(name);
    const { logId = "" } = rig.places;
    assert.ok((await findStoredEnd(rig.store, logId)) < 4);
    const { joining, notes } = startGateway(rig, rig.signer);
    assert.equal(await joinLog(joining, { serves: true }), true);
    assert.equal(await findStoredEnd(rig.store, logId), 4);
    assert.deepEqual(await joining.committer.releaseLeftovers(), []);
    await assertWhole(rig, rig.signer);
    assert.deepEqual(notes, []);
  });

  test(`on ${dialect} a changed list of logs is told to the operator, and the gateway joins all the same`, async (t) => {
    const rig = await rigOf(t);
    if (rig === undefined) return;
    for (const content of ["", " ", "{}", "null", '{"format":99}'].map((text) => Buffer.from(text))) {
      await rig.store.db.updateTable("pages").set({ content }).where("name", "=", "logs").execute();
      const { joining, notes } = startGateway(rig, rig.signer);
      assert.equal(await joinLog(joining, { serves: true }), true);
      assert.deepEqual(notes.length, 1);
      assert.match(notes[0] ?? "", /list of logs was changed; stop the server and run `npx keystead check-database`/);
    }
  });

  test(`on ${dialect} after a power cut the same leaves get the same places, and no row changes`, async (t) => {
    const rig = await rigOf(t);
    if (rig === undefined) return;
    await rig.newPerson("Ann");
    await rig.dependencies.committer.settle();
    const folder = copyOf(t, rig.signer.folder);
    const { people } = await rig.newSubOrganization(2, ["Bob", "Cal"]);
    assert.equal(people.length, 2);
    for (const name of ["Dan", "Eve"]) await rig.newPerson(name);
    await rig.dependencies.committer.settle();
    const before = await rowsOf(rig);
    const signer = rig.signer.restart({ folder });
    assert.equal(stateOf(signer.operations.logState({})).size, 2);
    const { joining, notes } = startGateway(rig, signer);
    await joinLog(joining, { serves: true });
    assert.equal((await assertWhole(rig, signer)).length, 6);
    assert.equal(await rowsOf(rig), before);
    assert.deepEqual(notes, [
      "the signer has lost its log from position 2 on; the leaves that stood there are released again",
    ]);
  });

  test(`on ${dialect} where a leaf is gone after a power cut, the rest is stored as it comes`, async (t) => {
    const rig = await rigOf(t);
    if (rig === undefined) return;
    await rig.dependencies.committer.settle();
    const folder = copyOf(t, rig.signer.folder);
    const subs = [];
    for (const name of ["Ann", "Bob", "Cal"]) subs.push(await rig.newSubOrganization(1, [name]));
    await rig.dependencies.committer.settle();
    // Nothing else hangs on the leaf of a birth.
    const gone = subs[1]?.organizationId ?? "";
    await rig.store.db.deleteFrom("leaves").where("organization_id", "=", gone).execute();
    const signer = rig.signer.restart({ folder });
    const { joining } = startGateway(rig, signer);
    await joinLog(joining, { serves: true });
    await rig.store.db.deleteFrom("unreleased").where("organization_id", "=", gone).execute();
    assert.deepEqual(await joining.committer.releaseLeftovers(), []);
    const events = await assertWhole(rig, signer);
    assert.deepEqual(events.sort(), ["BIRTH 1", "BIRTH 1", "BIRTH 1", "COMPLETED 2", "COMPLETED 3", "COMPLETED 4"]);
  });

  test(`on ${dialect} the act that lists a log is committed once, however often the gateway is killed over it`, async (t) => {
    const rig = await rigOf(t);
    if (rig === undefined) return;
    await rig.dependencies.committer.settle();
    const empty = mkdtempSync(join(tmpdir(), "keystead-signer-"));
    t.after(() => rmSync(empty, { recursive: true, force: true }));
    const signer = rig.signer.restart({ folder: empty, orders: { adoptUnknown: true } });
    const { joining } = startGateway(rig, signer);
    assert.equal(await joinLog(joining, { serves: false }), false, "an operator's order lists none");
    const killed = { ...joining.link, request: joining.link.request };
    killed.request = (async (kind: "release", message: never) => {
      if (kind === "release") throw new Fault("unavailable", "killed");
      return joining.link.request(kind, message);
    }) as typeof killed.request;
    const dying = createCommitter(rig.store, killed, { places: joining.places });
    await assert.rejects(joinLog({ ...joining, link: killed, committer: dying }, { serves: true }), {
      message: "killed",
    });
    assert.equal(stateOf(signer.operations.logState({})).isListed, false);
    const next = startGateway(rig, signer);
    assert.equal(await joinLog(next.joining, { serves: true }), true);
    assert.deepEqual(await assertWhole(rig, signer), ["LOG_OPENED 0"]);
    const logs = await listLogs(rig.store);
    assert.deepEqual(
      logs.map(({ is_open }) => is_open),
      [1, 1],
      "a host that joins ends no other's log",
    );
  });

  test(`on ${dialect} acceptance ends the log, and the next begins with the act that lists it`, async (t) => {
    const rig = await rigOf(t);
    if (rig === undefined) return;
    await rig.newPerson("Ann");
    await rig.dependencies.committer.settle();
    const { logId } = rig.places;
    const signer = rig.signer.restart({ orders: { acceptDatabase: true } });
    const { joining } = startGateway(rig, signer);
    const report = await acceptDatabase(joining);
    assert.ok(report.at(-1)?.startsWith(`log ${logId} has ended, and log ${joining.places.logId} follows it: `));
    assert.deepEqual(await assertWhole(rig, signer), ["LOG_OPENED 0", "DATABASE_ACCEPTED 0"]);
    const logs = await listLogs(rig.store);
    assert.deepEqual(
      logs.map(({ log_id, is_open }) => [log_id === logId, is_open]),
      [
        [true, 0],
        [false, 1],
      ],
    );
    const serving = startGateway(rig, signer.restart({ orders: { acceptDatabase: false } }));
    assert.equal(await joinLog(serving.joining, { serves: true }), true);
    assert.equal((await listLogs(rig.store)).length, 2);
  });
}

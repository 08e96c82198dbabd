import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  createSignerRig,
  createTagBody,
  offer,
  prepareOn,
  releaseRows,
  type SignerRig,
  stateAfter,
} from "../../test/signer_rig.ts";
import { protocolVersion } from "../frames/frame.ts";
import { clockToleranceMs } from "../state/journal.ts";
import { openMemory } from "./memory/memory.ts";
import { createOperations, type Orders } from "./operations.ts";

const behind = {
  code: "unavailable",
  message: /clock is 301 s behind the last time it has seen.*`npx keystead accept-clock`/,
};

/** A rig whose memory has seen the clock's time, and whose clock then steps back. */
function steppedBack(byMs: number): SignerRig {
  const rig = createSignerRig();
  rig.clock.nowMs -= byMs;
  return rig;
}

test("a clock behind the memory by the tolerance still signs; a moment more, and nothing is decided, released or stated", () => {
  const rig = steppedBack(clockToleranceMs);
  const state = stateAfter(rig.born, prepareOn(rig, rig.born, createTagBody(rig, "in time")));
  assert.equal(state.version, 2);

  const prepared = prepareOn(rig, rig.born, createTagBody(rig, "prepared before"));
  rig.clock.nowMs -= 1_000;
  assert.throws(() => prepareOn(rig, rig.born, createTagBody(rig, "too late")), behind);
  assert.throws(() => releaseRows(rig, [prepared]), behind);
  assert.throws(() => rig.operations.statement({ page: 0 }), behind);
});

test("once the clock is right again the same signer goes on, with what it refused to release", () => {
  const rig = createSignerRig();
  const prepared = prepareOn(rig, rig.born, createTagBody(rig, "prepared before"));
  rig.clock.nowMs -= clockToleranceMs + 1_000;
  assert.throws(() => releaseRows(rig, [prepared]), behind);
  rig.clock.nowMs += clockToleranceMs + 1_000;
  assert.equal(releaseRows(rig, [prepared])[0]?.kind, "released");
});

test("the operator hears once that the clock is behind, and once that it no longer is; a release of nothing tells, too", () => {
  const rig = createSignerRig();
  const releaseNothing = () => rig.operations.release({ rows: [], links: [] });
  rig.clock.nowMs -= clockToleranceMs + 1_000;
  for (let n = 0; n < 3; n++) assert.throws(releaseNothing, behind);
  rig.clock.nowMs += clockToleranceMs;
  for (let n = 0; n < 3; n++) assert.deepEqual(releaseNothing(), []);
  assert.deepEqual(rig.notes, [
    "its clock is 301 s behind the last time it has seen; nothing is signed until it is right, or until the operator runs " +
      "`npx keystead accept-clock`",
    "its clock is no longer behind",
  ]);
});

test("a restart does not forget the time; the operator's reset does, and the next release remembers the new one", () => {
  let rig = steppedBack(clockToleranceMs + 1_000).restart();
  assert.throws(() => prepareOn(rig, rig.born, createTagBody(rig, "refused")), behind);
  rig.memory.resetClock(rig.clock.nowMs);
  rig = rig.restart();
  const prepared = prepareOn(rig, rig.born, createTagBody(rig, "after the reset"));
  assert.equal(releaseRows(rig, [prepared])[0]?.kind, "released");
  assert.equal(rig.memory.lastTimeMs, rig.clock.nowMs);
});

test("a clock that runs ahead signs, and is what the memory then holds the clock to", () => {
  const rig = createSignerRig();
  rig.clock.nowMs += 86_400_000;
  releaseRows(rig, [prepareOn(rig, rig.born, createTagBody(rig, "from tomorrow"))]);
  rig.clock.nowMs -= 86_400_000;
  assert.throws(() => rig.operations.statement({ page: 0 }), {
    code: "unavailable",
    message: /clock is 86400 s behind/,
  });
});

/** A signer beside a database server, on an empty memory. */
function besideServer(rootKey: Uint8Array, orders: Orders, folder: string) {
  const notes: string[] = [];
  const memory = openMemory(folder, rootKey);
  const operations = createOperations(
    { current: rootKey },
    memory,
    { ...orders, adoptUnknown: true },
    Date.now,
    (note) => notes.push(note),
  );
  operations.hello({ protocol: protocolVersion, keyring: undefined });
  return { operations, memory, notes };
}

test("beside a database server: a birth that was never committed leaves no memory, and the next start gives birth again", (t) => {
  const { rootKey, orders } = createSignerRig();
  const folder = freshFolder(t);
  const first = besideServer(rootKey, orders, folder);
  first.operations.birth({});
  first.memory.close();

  const { operations, memory, notes } = besideServer(rootKey, orders, folder);
  assert.equal(memory.deploymentId, undefined);
  const { leaf, birth } = operations.birth({});
  assert.equal(operations.release({ rows: [{ leaf, sealed: undefined }], links: [] })[0]?.kind, "released");
  assert.equal(operations.hello({ protocol: protocolVersion, keyring: birth?.keyring }).remembers, true);
  assert.deepEqual(notes, []);
  memory.close();
});

test("beside a database server: of two births at once the loser joins the winner's deployment, and says so", (t) => {
  const { rootKey, orders } = createSignerRig();
  const winner = besideServer(rootKey, orders, freshFolder(t));
  const loser = besideServer(rootKey, orders, freshFolder(t));
  const { birth } = winner.operations.birth({});
  loser.operations.birth({});
  assert.equal(loser.operations.hello({ protocol: protocolVersion, keyring: birth?.keyring }).remembers, true);
  assert.match(loser.notes.join(), /is new to deployment .* takes its database as found/);
  winner.memory.close();
  loser.memory.close();
});

test("an empty database beside a memory asks whether DATABASE_URL is missing, or whether the one that is set is right", () => {
  const rig = createSignerRig().restart();
  assert.throws(() => rig.operations.birth({}), { message: /is DATABASE_URL missing\? Else restore/ });
  const orders = { ...rig.orders, adoptUnknown: true };
  const besideAServer = createOperations({ current: rig.rootKey }, rig.memory, orders, Date.now, () => {});
  assert.throws(() => besideAServer.birth({}), { message: /is DATABASE_URL right\? Else restore/ });
});

function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keystead-signer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a state that a request led to and that was passed over is no fault of the database: its own state is asked for", () => {
  const rig = createSignerRig();
  const committed = prepareOn(rig, rig.born, createTagBody(rig, "another gateway's"));
  prepareOn(rig, rig.born, createTagBody(rig, "overtaken"));
  assert.equal(releaseRows(rig, [committed])[0]?.kind, "released");
  const reply = offer(rig, undefined, createTagBody(rig, "follows what was overtaken"));
  assert.deepEqual(reply, { kind: "again", value: [{ kind: "state", value: {} }] });
});

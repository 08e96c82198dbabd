/**
 * A gateway that wants another log signed than the one there was: other orders, other sizes, leaves that are nobody's, places that it lost. In
 * every case what is signed is the one log, and a refusal leaves it as it was.
 */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { logVkey } from "@keystead/core/log/log_name.ts";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { rootOf } from "@keystead/core/tlog/tree.ts";
import fc from "fast-check";
import {
  activityBody,
  createSignerRig,
  createTagBody,
  openLogOn,
  prepareOn,
  releaseRows,
  type SignerRig,
  type StoredState,
  stateAfter,
} from "../../../test/signer_rig.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { protocolVersion } from "../../frames/frame.ts";
import type { Prepared } from "../../frames/messages.ts";
import { type Memory, openMemory } from "../memory/memory.ts";
import { createOperations } from "../operations.ts";
import { openKeyring } from "../secrets/keyring.ts";

/** Acts that leave the state as it is: they can be released in any order. */
function unordered(rig: SignerRig, count: number, from = rig.born): Prepared[] {
  const gone = { userTagIds: ["0aa0aa00-0000-4000-8000-00000000000a"] };
  return Array.from({ length: count }, () =>
    prepareOn(rig, from, activityBody(rig, "ACTIVITY_TYPE_DELETE_USER_TAGS", gone)),
  );
}

function line(rig: SignerRig, count: number, from = rig.born): { rows: Prepared[]; state: StoredState } {
  let state = from;
  const rows = Array.from({ length: count }, (_, n) => {
    const row = prepareOn(rig, state, createTagBody(rig, `${from.version} ${n}`));
    state = stateAfter(state, row);
    return row;
  });
  return { rows, state };
}

/** What is signed, by size. */
function signedBy(rig: SignerRig, note: string): { size: number; root: string } {
  const { deploymentId, publicKeys } = openKeyring(rig.rootKey, 1, rig.keyring);
  const logId = toHex(rig.memory.log?.logId ?? new Uint8Array());
  const { size, root } = openCheckpoint(
    nodeCurves,
    logVkey(uuidFromBytes(deploymentId), logId, fromHex(publicKeys.log)),
    note,
  );
  return { size, root: toHex(root) };
}

const entriesOf = (rig: SignerRig) => rig.operations.logTail({ from: 0 }).leaves.map(({ entry }) => entry);
const leavesOf = (rows: readonly Prepared[]) => rows.map(({ leaf }) => leaf);
const blank = () => mkdtempSync(join(tmpdir(), "keystead-places-"));

test("whatever a gateway asks for, and in whatever order, one size has one root, sizes only grow, and each leaf has one place", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("release" as const), rows: fc.array(fc.nat(7), { maxLength: 5 }) }),
    fc.record({ kind: fc.constant("checkpoint" as const), size: fc.nat(12) }),
    fc.record({
      kind: fc.constant("takeIn" as const),
      rows: fc.array(fc.nat(7), { maxLength: 4 }),
      last: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("restart" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) => {
      let rig = createSignerRig();
      const rows = unordered(rig, 8);
      const places = new Map<number, string>([[0, "birth"]]);
      const roots = new Map<number, string>();
      let last = 0;
      for (const each of steps) {
        if (each.kind === "restart") rig = rig.restart();
        if (each.kind === "release") {
          const chosen = each.rows.map((n) => rows[n] as Prepared);
          for (const [index, outcome] of releaseRows(rig, chosen).entries()) {
            assert.ok(outcome.kind === "released");
            if (outcome.value.place === undefined) continue;
            const { position } = outcome.value.place;
            assert.equal(places.has(position), false);
            assert.equal(position, places.size);
            places.set(position, toHex(chosen[index]?.leaf ?? new Uint8Array()));
          }
        }
        if (each.kind === "takeIn") {
          const leaves = leavesOf(each.rows.map((n) => rows[n] as Prepared));
          const reply = rig.operations.takeIn({ leaves, last: each.last });
          assert.ok(reply.places.every((place) => place === undefined) && reply.missing.length === 0);
        }
        if (each.kind !== "checkpoint") continue;
        const isAllowed = each.size > 0 && each.size >= last && each.size <= places.size;
        if (!isAllowed) {
          assert.throws(() => rig.operations.checkpoint({ size: each.size }), { code: "failed_precondition" });
          continue;
        }
        const { size, root } = signedBy(rig, rig.operations.checkpoint({ size: each.size }).note);
        assert.equal(size, each.size);
        assert.equal(roots.get(size) ?? root, root);
        roots.set(size, root);
        last = size;
      }
      assert.equal(new Set(places.values()).size, places.size);
      assert.equal(rig.memory.log?.size, places.size);
      rig.memory.close();
    }),
    { numRuns: 25 },
  );
});

test("leaves that the signer did not write, or another deployment's, get no place by any way", () => {
  const rig = createSignerRig();
  const [own] = unordered(rig, 1) as [Prepared];
  const [foreign] = unordered(createSignerRig(), 1) as [Prepared];
  const bent = Uint8Array.from(own.leaf);
  bent[40] = (bent[40] ?? 0) ^ 1;
  for (const leaf of [foreign.leaf, bent, new Uint8Array(3), new Uint8Array(0)]) {
    assert.equal(rig.operations.release({ rows: [{ leaf, sealed: undefined }], links: [] })[0]?.kind, "refused");
    assert.deepEqual(rig.operations.takeIn({ leaves: [leaf], last: false }).places, [undefined]);
  }
  assert.equal(rig.memory.log?.size, 1);
});

test("a fork gets no place: of two lines the log has the one that was released", () => {
  const rig = createSignerRig();
  const [one, two] = [
    prepareOn(rig, rig.born, createTagBody(rig, "one")),
    prepareOn(rig, rig.born, createTagBody(rig, "two")),
  ];
  assert.deepEqual(
    releaseRows(rig, [one, two]).map(({ kind }) => kind),
    ["released", "refused"],
  );
  assert.equal(rig.memory.log?.size, 2);
});

test("a tail that is asked for again and again stays the same, and a checkpoint alone makes it shorter", () => {
  const rig = createSignerRig();
  releaseRows(rig, unordered(rig, 5));
  const tail = rig.operations.logTail({ from: 0 });
  assert.deepEqual(rig.operations.logTail({ from: 0 }), tail);
  rig.operations.checkpoint({ size: 4 });
  assert.deepEqual(rig.operations.logTail({ from: 0 }).leaves, tail.leaves.slice(4));
  // What was forgotten is gone for good: whoever lost it has no checkpoint any more that it can serve, and gets no other.
  assert.equal(rig.operations.logTail({ from: 1 }).first, 4);
  assert.throws(() => rig.operations.checkpoint({ size: 2 }), { code: "failed_precondition" });
});

/** A memory as the release before this one left it: pins and released numbers, and no log. */
function memoryFromBefore(rig: SignerRig, rows: readonly Prepared[], state: StoredState, boots: readonly Uint8Array[]) {
  const memory = openMemory(blank(), rig.rootKey);
  const { deploymentId, authenticity } = openKeyring(rig.rootKey, 1, rig.keyring);
  const organizationId = authenticity.check("header", state.header).slice(1, 17);
  const pin = rig.memory.pins.get(organizationId) ?? assert.fail();
  memory.rememberDeployment(deploymentId);
  for (const boot of boots) memory.rememberBoot(boot);
  memory.rememberRelease(
    rig.clock.nowMs,
    [{ organizationId, pin }],
    rows.map(({ boot, number }) => ({ boot, first: number, last: number })),
  );
  return memory;
}

function upgraded(rig: SignerRig, memory: Memory): SignerRig {
  const operations = createOperations(
    { current: rig.rootKey },
    memory,
    rig.orders,
    () => rig.clock.nowMs,
    () => undefined,
  );
  operations.hello({ protocol: protocolVersion, keyring: rig.keyring });
  return { ...rig, operations, memory };
}

/** Without the page of logs, as a first organization was born before there were any. */
function fromBefore() {
  const old = createSignerRig();
  const { rows, state } = line(old, 4);
  releaseRows(old, rows);
  const stray = prepareOn(old, state, createTagBody(old, "never released"));
  const rig = upgraded(old, memoryFromBefore(old, [old.birthRow, ...rows], state, [old.birthRow.boot]));
  const listing = openLogOn(rig, state);
  assert.equal(releaseRows(rig, [listing])[0]?.kind, "released");
  const ordered = [old.birthRow, ...rows].sort((a, b) => a.number - b.number);
  return { rig, ordered, stray, state: stateAfter(state, listing) };
}

test("leaves from before are taken in once, in their order; what was never released is not, and what never comes is named", () => {
  const { rig, ordered, stray } = fromBefore();
  assert.equal(rig.operations.logState({})?.isOwed, true);
  const [first, second, third, ...rest] = leavesOf(ordered) as [Uint8Array, Uint8Array, Uint8Array, ...Uint8Array[]];
  const take = (leaves: Uint8Array[], last = false) => rig.operations.takeIn({ leaves, last });
  assert.throws(() => take([second, first]), {
    code: "invalid_argument",
    message: "leaves from before the log come by organization, boot and number",
  });
  assert.equal(rig.memory.log?.size, 1, "nothing of it is taken");
  assert.deepEqual(
    take([first, second, second, first]).places.map((place) => [place?.position, place?.ordinal]),
    [
      [1, 1],
      [2, 2],
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
  const { places, missing } = take([first, ...rest, stray.leaf], true);
  assert.deepEqual(
    places.map((place) => place?.ordinal),
    [undefined, 3, 4, undefined],
  );
  const { boot, number } = ordered[2] as Prepared;
  assert.deepEqual(missing, [{ boot, first: number, last: number }]);
  assert.equal(rig.operations.logState({})?.isOwed, true, "it is asked for at every start");
  // The order of a new run begins anew; the one that was kept back comes at last, and nothing else.
  const later = upgraded(rig, rig.memory);
  assert.deepEqual(later.operations.takeIn({ leaves: [first, second, third, stray.leaf], last: true }), {
    places: [undefined, undefined, { position: 5, ordinal: 5, entry: entriesOf(later)[5] }, undefined],
    missing: [],
  });
  assert.equal(later.operations.logState({})?.isOwed, false);
});

test("of processes that it does not know, a memory takes in leaves only where no log has them, only from before, and only once", () => {
  const old = createSignerRig();
  const { rows, state } = line(old, 3);
  releaseRows(old, rows);
  const withPage = upgraded(old, memoryFromBefore(old, [], state, []));
  releaseRows(withPage, [openLogOn(withPage, state)]);
  assert.deepEqual(
    withPage.operations.takeIn({ leaves: leavesOf(rows), last: false }).places,
    [undefined, undefined, undefined],
    "the page of logs is not empty: they are in another's log",
  );
  const memory = memoryFromBefore(old, [], state, []);
  const rig = upgraded(old, memory);
  const listing = openLogOn(rig, state);
  const log = memory.log ?? assert.fail();
  memory.openLog({ logId: log.logId, openedAtMs: log.openedAtMs, previous: log.previous, takesAll: true });
  releaseRows(rig, [listing]);
  assert.equal(rig.operations.takeIn({ leaves: leavesOf(rows.slice(0, 1)), last: false }).places[0]?.position, 1);
  rig.clock.nowMs += 3_600_000;
  old.clock.nowMs = rig.clock.nowMs;
  const [late] = unordered(old, 1, state) as [Prepared];
  assert.deepEqual(
    rig.operations.takeIn({ leaves: [late.leaf], last: true }).places,
    [undefined],
    "prepared after it opened",
  );
  assert.deepEqual(rig.operations.takeIn({ leaves: leavesOf(rows.slice(1)), last: false }).places, [
    undefined,
    undefined,
  ]);
});

test("places that a power cut took from the memory are given again, in the order that their leaves come in", () => {
  const rig = createSignerRig();
  const rows = unordered(rig, 4);
  releaseRows(rig, rows.slice(0, 2));
  const { note } = rig.operations.checkpoint({ size: 3 });
  const before = signedBy(rig, note);
  // The memory as it is on the disk: the two below were released and are lost.
  const again = rig.restart();
  releaseRows(again, [...rows.slice(2)].reverse());
  assert.deepEqual(signedBy(again, again.operations.checkpoint({ size: 3 }).note), before);
  assert.equal(again.memory.log?.size, 5);
});

test("a log whose tail nobody stores takes 100,000 leaves, then nothing is released until a checkpoint", () => {
  const rig = createSignerRig();
  const [first, second] = unordered(rig, 2) as [Prepared, Prepared];
  const filler = (number: number) => ({
    ...{ organizationId: new Uint8Array(16).fill(9), boot: new Uint8Array(16).fill(8), number, ordinal: number },
    entry: new Uint8Array(32),
  });
  const size = rig.memory.log?.size ?? 0;
  rig.memory.rememberAppended(
    rig.clock.nowMs,
    [],
    Array.from({ length: 100_000 - size - 1 }, (_, n) => filler(n + 1)),
  );
  assert.equal(releaseRows(rig, [first])[0]?.kind, "released");
  assert.throws(() => releaseRows(rig, [second]), {
    code: "unavailable",
    message: /^the log cannot be stored: 100000 /,
  });
  assert.equal(releaseRows(rig, [first])[0]?.kind, "released", "what has its place is opened as ever");
  rig.operations.checkpoint({ size: 10 });
  assert.equal(releaseRows(rig, [second])[0]?.kind, "released");
});

test("every root is the one of the entries that were given out", () => {
  const rig = createSignerRig();
  releaseRows(rig, unordered(rig, 9));
  const entries = entriesOf(rig);
  for (const size of [1, 2, 5, 9, 10]) {
    const { root } = signedBy(rig, rig.operations.checkpoint({ size }).note);
    assert.equal(root, toHex(rootOf(entries.slice(0, size))));
  }
});

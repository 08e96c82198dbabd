/** The signer's log: what is released gets its place, once; what is signed is never taken back. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { logVkey } from "@keystead/core/log/log_name.ts";
import { decodeOpenedLog } from "@keystead/core/log/outside_values.ts";
import { parseLogStatement } from "@keystead/core/log/statement.ts";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { entryOf } from "@keystead/core/tlog/entry.ts";
import { openNote } from "@keystead/core/tlog/note.ts";
import { rootOf } from "@keystead/core/tlog/tree.ts";
import {
  createSignerRig,
  createTagBody,
  leafOf,
  listLog,
  offer,
  only,
  openLogOn,
  prepareOn,
  releaseRows,
  type SignerRig,
  type StoredState,
  signerUnder,
  stateAfter,
} from "../../../test/signer_rig.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import type { Place, Prepared, Reply } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import { openKeyring } from "../secrets/keyring.ts";

const placeOf = (outcome: Reply<"release">[number] | undefined): Place | undefined =>
  outcome?.kind === "released" ? outcome.value.place : undefined;

const digestOf = ({ leaf }: Prepared) => sha256(withoutMac(leaf));

/** Rows that follow one another, and the state that the last one leads to. */
function lineOf(rig: SignerRig, count: number, from = rig.born): { rows: Prepared[]; state: StoredState } {
  let state = from;
  const rows = Array.from({ length: count }, (_, n) => {
    const row = prepareOn(rig, state, createTagBody(rig, `tag ${from.version} ${n}`));
    state = stateAfter(state, row);
    return row;
  });
  return { rows, state };
}

const logIdOf = ({ memory }: SignerRig) => toHex(memory.log?.logId ?? new Uint8Array());

function vkeyOf(rig: SignerRig) {
  const { deploymentId, publicKeys } = openKeyring(rig.rootKey, 1, rig.keyring);
  return logVkey(uuidFromBytes(deploymentId), logIdOf(rig), fromHex(publicKeys.log));
}

const blank = () => mkdtempSync(join(tmpdir(), "keystead-log-"));
const notListed = { code: "unavailable", message: "the signer's log is not listed yet" };

test("each leaf gets the next place and its organization's next ordinal; the birth that lists the log has the first", () => {
  const rig = createSignerRig();
  const { rows } = lineOf(rig, 3);
  const places = [...releaseRows(rig, rows.slice(0, 2)), ...releaseRows(rig, rows.slice(2))].map(placeOf);
  assert.deepEqual(
    places,
    rows.map((row, n) => ({ position: n + 1, ordinal: n + 2, entry: entryOf(digestOf(row), n + 2) })),
  );
  const state = rig.operations.logState({});
  assert.deepEqual([state?.size, state?.isListed, state?.isOwed, state?.checkpointSize], [4, true, false, 0]);
  assert.equal(state?.origin, vkeyOf(rig).name);
});

test("released twice is appended once: in one request, in two, after a restart, and by the long way", () => {
  const rig = createSignerRig();
  const { rows } = lineOf(rig, 2);
  const [first, second] = rows as [Prepared, Prepared];
  assert.deepEqual(
    releaseRows(rig, [first, second, first, second]).map((outcome) => placeOf(outcome)?.position),
    [1, 2, undefined, undefined],
  );
  assert.deepEqual(releaseRows(rig, rows).map(placeOf), [undefined, undefined]);
  const again = rig.restart();
  assert.deepEqual(releaseRows(again, rows).map(placeOf), [undefined, undefined]);
  assert.equal(again.memory.log?.size, 3);
});

test("before the log is listed nothing but the act that lists it is released, and that act first", () => {
  const rig = createSignerRig();
  const { rows, state } = lineOf(rig, 1);
  const host = rig.restart({ folder: blank(), orders: { adoptUnknown: true } });
  assert.throws(() => releaseRows(host, rows), notListed);
  assert.equal(host.operations.logState({}), undefined);
  const listing = openLogOn(host, state);
  assert.equal(host.operations.logState({})?.isListed, false);
  assert.throws(() => releaseRows(host, rows), notListed);
  assert.throws(() => host.operations.takeIn({ leaves: [], last: true }), notListed);
  const [before, listed, after] = releaseRows(host, [rows[0] as Prepared, listing, rows[0] as Prepared]);
  assert.deepEqual(before, { kind: "refused", value: { message: notListed.message } });
  assert.deepEqual(placeOf(listed), { position: 0, ordinal: 0, entry: entryOf(digestOf(listing), 0) });
  assert.equal(placeOf(after)?.position, 1);
});

test("a log is listed by one leaf: a second one that was prepared for it is refused", () => {
  const rig = createSignerRig();
  const host = rig.restart({ folder: blank(), orders: { adoptUnknown: true } });
  const [one, two] = [openLogOn(host, rig.born), openLogOn(host, rig.born)];
  assert.equal(releaseRows(host, [one])[0]?.kind, "released");
  const [refused] = releaseRows(host, [two]);
  assert.deepEqual(refused, { kind: "refused", value: { message: "another leaf lists the signer's log" } });
  assert.throws(() => openLogOn(host, stateAfter(rig.born, one)), {
    code: "failed_precondition",
    message: "the signer's log is listed already",
  });
  // Committed and not released: the next start releases it and needs no other.
  const options = { folder: blank(), orders: { adoptUnknown: true } };
  const late = rig.restart(options);
  const committed = openLogOn(late, rig.born);
  assert.throws(
    () => openLogOn(late, stateAfter(rig.born, committed), { links: [committed.next?.header as Uint8Array] }),
    {
      code: "failed_precondition",
      message: "the act that lists the signer's log is committed; release it",
    },
  );
  assert.equal(placeOf(releaseRows(late.restart(options), [committed])[0])?.position, 0);
});

test("a checkpoint is signed for sizes from the last one to the head, has the root of that size, and repeats", () => {
  const rig = createSignerRig();
  const { rows } = lineOf(rig, 6);
  const places = releaseRows(rig, rows).map(placeOf);
  const birth = entryOf(digestOf(rig.birthRow), 1);
  const entries = [birth, ...places.map((place) => place?.entry ?? birth)];
  const sign = (size: number, on = rig) => on.operations.checkpoint({ size }).note;
  for (const size of [3, 3, 5]) {
    const { root, origin } = openCheckpoint(nodeCurves, vkeyOf(rig), sign(size));
    assert.deepEqual([toHex(root), origin], [toHex(rootOf(entries.slice(0, size))), vkeyOf(rig).name]);
  }
  const code = "failed_precondition";
  assert.throws(() => sign(4), {
    code,
    message: "a checkpoint of 4 leaves is before the last checkpoint, of 5 leaves",
  });
  assert.throws(() => sign(8), {
    code,
    message: "a checkpoint of 8 leaves is beyond the head of the log, which has 7 leaves",
  });
  assert.throws(() => sign(0), { code });
  const note = sign(7);
  const again = rig.restart();
  assert.equal(sign(7, again), note, "the same size has the same note");
  assert.throws(() => sign(6, again), { code });
});

test("no checkpoint of nothing", () => {
  const rig = createSignerRig();
  const host = rig.restart({ folder: blank(), orders: { adoptUnknown: true } });
  openLogOn(host, rig.born);
  assert.throws(() => host.operations.checkpoint({ size: 0 }), {
    code: "failed_precondition",
    message: "a checkpoint of 0 leaves is of no leaf",
  });
});

test("the tail is what no checkpoint covers: leaves with their places, in portions, over restarts", () => {
  const rig = createSignerRig();
  const { rows } = lineOf(rig, 4);
  const places = releaseRows(rig, rows).map(placeOf);
  rig.operations.checkpoint({ size: 3 });
  for (const signer of [rig, rig.restart()]) {
    const { size, first, leaves } = signer.operations.logTail({ from: 0 });
    assert.deepEqual([size, first], [5, 3]);
    const expected = rows.slice(2).map((row, n) => ({
      ...{ organizationId: leafOf(row).organizationId, boot: row.boot, number: row.number },
      ...{ ordinal: places[n + 2]?.ordinal, entry: places[n + 2]?.entry },
    }));
    assert.deepEqual(leaves, expected);
    assert.deepEqual(signer.operations.logTail({ from: 4 }).leaves, expected.slice(1));
    assert.deepEqual(signer.operations.logTail({ from: 99 }), { size: 5, first: 5, leaves: [] });
  }
});

test("a statement counts an organization's leaves, and names the page of logs at or ahead of the pin alone", () => {
  const rig = createSignerRig();
  const { rows, state } = lineOf(rig, 2);
  releaseRows(rig, rows);
  const { organizationId } = rig.orders.birth;
  const ask = (on: StoredState, links: readonly Uint8Array[] = []) =>
    rig.operations.logStatement({ organizationId, first: { ...on, pages: [], links } });
  const reply = ask(state);
  assert.ok(reply.kind === "signed");
  const { text } = openNote(nodeCurves, [vkeyOf(rig)], reply.value.note);
  const page = state.pages.find(({ name }) => name === "logs");
  assert.deepEqual(parseLogStatement(text), {
    organizationId,
    logId: logIdOf(rig),
    count: 3,
    size: 3,
    timeMs: rig.clock.nowMs,
    logs: toHex(sha256(page?.content ?? "")),
  });
  assert.throws(() => ask(rig.born), { code: "aborted" });
  assert.throws(() => ask({ ...state, directory: rig.born.directory }), { code: "aborted", message: /directory/ });
  // Ahead of the pin, and not led to.
  const ahead = lineOf(rig, 2, state);
  assert.equal(ask(ahead.state).kind, "signed");
  const far = rig.restart().operations.logStatement({ organizationId, first: { ...ahead.state, links: [] } });
  assert.deepEqual(far, { kind: "again", value: { linksFrom: 4 } });
});

/** The database is accepted as it is at this state. */
function accepted(rig: SignerRig, state: StoredState): { rig: SignerRig; leaf: Prepared } {
  const operator = rig.restart({ orders: { acceptDatabase: true } });
  const { leaf } = operator.operations.accept({ headers: [state.header], last: true });
  assert.ok(leaf);
  return { rig: operator, leaf };
}

test("an acceptance opens the next log, which names the head of the one before, begins with its listing and owes the acceptance", () => {
  const first = createSignerRig();
  const { rows } = lineOf(first, 3);
  releaseRows(first, rows);
  const head = first.memory.log?.head();
  const { rig, leaf } = accepted(first, stateAfter(first.born, rows[0] as Prepared));
  assert.deepEqual(rig.memory.log?.previous, head);
  assert.deepEqual([rig.memory.log?.size, rig.operations.logState({})?.isOwed], [0, true]);
  assert.throws(() => releaseRows(rig, [leaf]), notListed);
  const back = stateAfter(first.born, rows[0] as Prepared);
  const listing = openLogOn(rig, back);
  const [opened] = leafOf(listing).outside;
  assert.ok(opened?.value.kind === "bytes");
  assert.deepEqual(decodeOpenedLog(opened.value.value), { logId: rig.memory.log?.logId, previous: head });
  const released = releaseRows(rig, [listing, leaf]).map(placeOf);
  assert.deepEqual(
    released.map((place) => [place?.position, place?.ordinal]),
    [
      [0, 0],
      [1, 0],
    ],
  );
  assert.equal(rig.operations.logState({})?.isOwed, false);
  // Ordinals begin anew, and nothing of the old log comes again.
  const next = only(prepared(offer(rig, stateAfter(back, listing), laterBody(rig))));
  assert.deepEqual(placeOf(releaseRows(rig, [next])[0])?.ordinal, 1);
  assert.equal(placeOf(releaseRows(rig, [rows[0] as Prepared])[0]), undefined);
});

function laterBody(rig: SignerRig): Uint8Array {
  rig.clock.nowMs += 61_000;
  return createTagBody(rig, "later");
}

function prepared(reply: Reply<"prepare">): readonly Prepared[] {
  assert.ok(reply.kind === "prepared");
  return reply.value;
}

test("a memory that was lost names the largest of the database's own checkpoints that verify, of the newest log that is listed", () => {
  const first = createSignerRig();
  const { rows, state } = lineOf(first, 3);
  releaseRows(first, rows);
  const [small, large] = [2, 4].map((size) => first.operations.checkpoint({ size }).note) as [string, string];
  const { logId, root } = first.memory.log?.head() ?? {};
  const forged = large.replace("\n4\n", "\n9\n");
  const other = createSignerRig().operations.checkpoint({ size: 1 }).note;
  const lost = first.restart({ folder: blank(), orders: { acceptDatabase: true } });
  lost.operations.accept({ headers: [state.header], last: true });
  const checkpoints = [small, "no note", forged, large, other];
  openLogOn(lost, state, { checkpoints });
  assert.deepEqual(lost.memory.log?.previous, { logId, size: 4, root });
  // A later call with less does not forget it, and only what it says now is released.
  const early = openLogOn(lost, state, { checkpoints: [small] });
  assert.equal(lost.memory.log?.previous?.size, 4);
  assert.equal(placeOf(releaseRows(lost, [early])[0])?.position, 0);
});

test("a listing that names less of the log before than the memory knows is not released", () => {
  const first = createSignerRig();
  const { rows, state } = lineOf(first, 3);
  releaseRows(first, rows);
  const { note } = first.operations.checkpoint({ size: 4 });
  const lost = first.restart({ folder: blank(), orders: { acceptDatabase: true } });
  lost.operations.accept({ headers: [state.header], last: true });
  const ignorant = openLogOn(lost, state);
  openLogOn(lost, state, { checkpoints: [note] });
  assert.throws(() => releaseRows(lost, [ignorant]), notListed);
});

test("a host that joins others begins a log of its own, after nobody's, and takes nothing in", () => {
  const rig = createSignerRig();
  const { rows, state } = lineOf(rig, 2);
  releaseRows(rig, rows);
  const { note } = rig.operations.checkpoint({ size: 3 });
  const host = rig.restart({ folder: blank(), orders: { adoptUnknown: true } });
  const listing = openLogOn(host, state, { checkpoints: [note] });
  assert.equal(host.memory.log?.previous, undefined);
  releaseRows(host, [listing]);
  const { places, missing } = host.operations.takeIn({ leaves: rows.map(({ leaf }) => leaf), last: true });
  assert.deepEqual([places, missing], [[undefined, undefined], []]);
  // What it releases itself is in its log too: a leaf that two release stands in both.
  assert.deepEqual(
    releaseRows(host, rows).map((outcome) => placeOf(outcome)?.ordinal),
    [1, 2],
  );
  const listed = JSON.parse(
    Buffer.from(stateAfter(state, listing).pages.find(({ name }) => name === "logs")?.content ?? []).toString(),
  );
  assert.equal(listed.logs.length, 2);
});

test("a second birth before the first is released serves the same log", () => {
  const rig = createSignerRig({ releaseBirth: false });
  const before = logIdOf(rig);
  const again = signerUnder(rig, {});
  const second = again.birth({});
  assert.equal(logIdOf(rig), before);
  assert.equal(again.release({ rows: [{ leaf: second.leaf, sealed: undefined }], links: [] })[0]?.kind, "released");
  assert.deepEqual(second.disclosed, [new TextEncoder().encode(JSON.stringify(rig.orders.birth))]);
  assert.deepEqual(leafOf(second).fingerprint, sha256(second.disclosed[0] ?? ""));
});

test("the listing is on the disk when it is released; a log that was listed stays so", () => {
  const rig = createSignerRig();
  const host = rig.restart({ folder: blank(), orders: { adoptUnknown: true } });
  let synced = 0;
  const { sync } = host.memory;
  host.memory.sync = () => {
    synced += 1;
    sync();
  };
  listLog(host, rig.born);
  assert.equal(synced, 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as breath } from "node:timers/promises";
import { patienceMs } from "../../../../core/test/patience.ts";
import { factsOfRecords, weightAsSent, weightOf } from "../submit/request_weight.ts";
import { createAdmission } from "./admission.ts";
import { type AdmissionLimits, type Replies, replySizeOf, type Weight } from "./admission_limits.ts";

const limits: AdmissionLimits = {
  inFlight: 4,
  cost: 250_000,
  allInFlight: 8,
  allCost: 1_000_000,
  allBytes: 1024 * 1024,
  allReplies: 1024 * 1024,
  waiting: 50,
  waitingBytes: 100 * 1024,
  waitMs: patienceMs,
};

const noReplies = (): Replies => ({ short: 0, long: 0 });

/** An admission, and what becomes of those who come, in order. */
function watched(
  changes: Partial<AdmissionLimits> = {},
  held: () => Replies = noReplies,
  isBehind = (_id: string, _underWay: number) => false,
) {
  const admission = createAdmission({ ...limits, ...changes }, { held, isBehind });
  const seen: string[] = [];
  const come = (
    organizationId: string,
    name: string,
    { cost = 500, bytes = 100, ...more }: Partial<Weight> = {},
    caller = "",
  ) => {
    const weight = { cost, bytes, ...more };
    const turn = admission.enter(organizationId, weight, caller);
    if (turn === undefined) seen.push(name);
    else
      turn.then(
        () => seen.push(name),
        (fault) => seen.push(`${name}: ${fault.code}`),
      );
    return () => admission.leave(organizationId, weight);
  };
  return { admission, seen, come };
}

test("an organization has so many under way; the others wait in their order, and go as places come free", async () => {
  const { seen, come } = watched();
  const leaves = ["1", "2", "3", "4", "5", "6"].map((name) => come("a", name));
  assert.deepEqual(seen, ["1", "2", "3", "4"]);
  leaves[1]?.();
  leaves[0]?.();
  await breath();
  assert.deepEqual(seen, ["1", "2", "3", "4", "5", "6"]);
});

test("a costly request goes alone in its organization, and keeps no other organization from going", async () => {
  const { seen, come } = watched();
  const leave = come("a", "costly", { cost: 900_000 });
  come("a", "next");
  come("b", "other");
  come("b", "middle", { cost: 50_000 });
  assert.deepEqual(seen, ["costly", "other", "middle"]);
  leave();
  await breath();
  assert.deepEqual(seen, ["costly", "other", "middle", "next"]);
});

test("who rests keeps its own place, and nobody else's", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { admission, seen, come } = watched({ inFlight: 1, allInFlight: 1 });
  come("a", "a");
  come("b", "b");
  come("a", "a again");
  assert.deepEqual(seen, ["a"]);
  admission.leave("a", { cost: 500, bytes: 100 }, 300);
  await breath();
  assert.deepEqual(seen, ["a", "b"]);
  admission.leave("b", { cost: 500, bytes: 100 });
  t.mock.timers.tick(299);
  await breath();
  assert.deepEqual(seen, ["a", "b"]);
  assert.equal(admission.underWayBytes(), 0);
  t.mock.timers.tick(1);
  await breath();
  assert.deepEqual(seen, ["a", "b", "a again"]);
});

test("organizations that flood take turns by cost", async () => {
  const { seen, come } = watched({ waiting: 1_000, allCost: 100_000 });
  let leave = come("a", "a", { cost: 90_000 });
  const leaves = new Map<string, () => void>();
  for (let i = 0; i < 20; i++) {
    leaves.set("a", come("a", "a", { cost: 90_000 }));
    leaves.set("b", come("b", "b", { cost: 30_000 }));
  }
  for (let served = 0; served < 24; served++) {
    leave();
    await breath();
    leave = leaves.get(seen.at(-1) ?? "") ?? leave;
  }
  const shares = {
    a: seen.filter((name) => name === "a").length * 90,
    b: seen.filter((name) => name === "b").length * 30,
  };
  assert.ok(shares.a > 0 && shares.b > 0 && shares.a <= 3 * shares.b, JSON.stringify(shares));
});

test("what waits is bounded by count, bytes and time; whoever has most gives way, and nobody else", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const { admission, seen, come } = watched({ waiting: 1_000, waitMs: 300 });
  for (let i = 0; i < 4; i++) come("a", `in ${i}`);
  for (let i = 0; i < 8; i++) come("a", `wait ${i}`, { bytes: 10 * 1024 });
  assert.throws(() => come("a", "flood", { bytes: 10 * 1024 }), { code: "resource_exhausted" });
  for (let i = 0; i < 4; i++) come("b", `b in ${i}`);
  come("b", "b waits", { bytes: 10 * 1024 });
  await breath();
  assert.deepEqual(seen.at(-1), "wait 7: resource_exhausted");
  assert.ok(admission.waitingBytes() <= 100 * 1024);
  nowMs = 301;
  while (admission.waitingBytes() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(seen.includes("b waits: resource_exhausted"), "it has waited too long");
});

test("too many of one organization are refused at once", () => {
  const { come } = watched({ waiting: 2 });
  for (let i = 0; i < 6; i++) come("a", `${i}`);
  assert.throws(() => come("a", "flood"), { code: "resource_exhausted", message: /of this organization/ });
});

test("callers of one organization take turns, and one who floods it gives way to another", async () => {
  const { seen, come } = watched({ waiting: 10, inFlight: 1 });
  const leave = come("a", "in", {}, "eve");
  const costly = { cost: 30_000 };
  const leaves = Array.from({ length: 10 }, (_, i) => come("a", `eve ${i}`, costly, "eve"));
  assert.throws(() => come("a", "eve floods", {}, "eve"), { code: "resource_exhausted" });
  come("a", "ann", {}, "ann");
  await breath();
  assert.deepEqual(seen, ["in", "eve 9: resource_exhausted"]);
  leave();
  await breath();
  leaves[0]?.();
  await breath();
  assert.deepEqual(seen.slice(2), ["eve 0", "ann"], "she does not wait for all that came before");
});

const kibibyte = 1024;

test("nothing is let in while nobody can take what comes of it, not even when nothing else is under way", async () => {
  let held = { short: 0, long: 0 };
  const { admission, seen, come } = watched({}, () => held);
  const leave = come("a", "1", { reply: 60 * kibibyte });
  held = { short: 380 * kibibyte, long: 0 };
  leave();
  come("a", "2", { reply: 8 * kibibyte });
  assert.deepEqual(seen, ["1"]);
  held = { short: 0, long: 0 };
  admission.replyGone("b");
  await breath();
  assert.deepEqual(seen, ["1", "2"]);
});

test("an organization with much to be committed waits here, its callers in turns, and nobody else with it", async () => {
  let isBehind = true;
  const { admission, seen, come } = watched({}, noReplies, (id) => isBehind && id === "flood");
  for (let at = 0; at < 8; at++) come("flood", `mallory ${at}`, { cost: 20_000 }, "mallory");
  come("flood", "ann", {}, "ann");
  come("a", "other");
  assert.deepEqual(seen, ["other"]);
  isBehind = false;
  admission.replyGone("a");
  await breath();
  assert.deepEqual(seen, ["other"]);
  admission.replyGone("flood");
  await breath();
  assert.equal(seen.length, 5, "as many as one organization may have under way");
  assert.ok(seen.includes("ann"));
});

test("whoever asks whether an organization is behind is told how many of it are under way", () => {
  const { seen, come } = watched({}, noReplies, (_id, underWay) => underWay >= 2);
  for (const name of ["1", "2", "3"]) come("a", name);
  come("b", "4");
  assert.deepEqual(seen, ["1", "2", "4"]);
});

test("an organization that is behind no more is let in, whoever told of it", async () => {
  let isBehind = true;
  const { seen, come } = watched({}, noReplies, () => isBehind);
  come("a", "1");
  isBehind = false;
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.deepEqual(seen, ["1"]);
});

test("long commits that wait keep no short ones out, nor the other way round", () => {
  const behindLong = watched({}, () => ({ short: 0, long: 640 * kibibyte }));
  behindLong.come("a", "long", { reply: 80 * kibibyte });
  behindLong.come("b", "short", { reply: 8 * kibibyte });
  assert.deepEqual(behindLong.seen, ["short"]);
  const behindShort = watched({}, () => ({ short: 384 * kibibyte, long: 0 }));
  behindShort.come("a", "short", { reply: 8 * kibibyte });
  behindShort.come("b", "long", { reply: 600 * kibibyte });
  assert.deepEqual(behindShort.seen, ["long"]);
});

test("replies that came longer than they were taken for do not break the bound for all", () => {
  const { seen, come } = watched({}, () => ({ short: 0, long: 1020 * kibibyte }));
  come("a", "short", { reply: 8 * kibibyte });
  assert.deepEqual(seen, []);
});

test("replies that are to come take room before they do, and long ones leave some of it to the others", async () => {
  const { seen, come } = watched();
  const long = { reply: 300 * kibibyte };
  const leaves = ["1", "2", "3", "4"].map((name) => come(name, name, long));
  assert.deepEqual(seen, ["1", "2"]);
  come("b", "short", { reply: 4 * kibibyte });
  assert.deepEqual(seen, ["1", "2", "short"]);
  leaves[0]?.();
  await breath();
  assert.deepEqual(seen, ["1", "2", "short", "3"]);
});

test("however many short replies are to come, a long one has room, whatever the short ones cost", async () => {
  for (const cost of [500, 30_000]) {
    const { seen, come } = watched({ inFlight: 64, allInFlight: 900, allCost: Number.POSITIVE_INFINITY });
    const flood = () => come("flood", "short", { cost, reply: 63 * kibibyte });
    const leaves = Array.from({ length: 8 }, flood);
    const before = seen.length;
    assert.ok(before > 1 && before < 8, `${before} are let in`);
    come("ann", "long", { cost, reply: 700 * kibibyte });
    assert.equal(seen.at(-1), "long");
    leaves[0]?.();
    await breath();
    assert.equal(seen.filter((name) => name === "short").length, before + (before === 6 ? 0 : 1));
  }
});

test("a reply that is longer than the bound is let in alone", async () => {
  const { seen, come } = watched();
  const leave = come("a", "1", { reply: 8 * kibibyte });
  come("b", "endless", { reply: 8 * 1024 * kibibyte });
  assert.deepEqual(seen, ["1"]);
  leave();
  await breath();
  assert.deepEqual(seen, ["1", "endless"]);
});

test("what goes along with a request counts while it is under way, as it is known, and not while it waits", async () => {
  const { admission, seen, come } = watched();
  const [few, many] = [1, 1_000].map((count) => ({ cost: 500, bytes: 100, offered: count * kibibyte }));
  assert.ok(few !== undefined && many !== undefined);
  come("a", "1", few);
  admission.correct(few, many);
  come("b", "2", { offered: 100 * kibibyte });
  assert.deepEqual(seen, ["1"]);
  assert.ok(admission.underWayBytes() > 1_000 * kibibyte && admission.waitingBytes() < 10 * kibibyte);
  admission.leave("a", many);
  await breath();
  assert.deepEqual(seen, ["1", "2"]);
  assert.ok(admission.underWayBytes() < 110 * kibibyte);
});

test("what seldom writes a state takes room for it all the same, because whoever floods chooses what does", () => {
  const signing = { body: new Uint8Array(300), cost: 500, stateShare: 1 / 4, stateLength: 200 * kibibyte };
  assert.ok(weightOf(signing, false).reply > 200 * kibibyte);
  assert.equal(replySizeOf(weightOf(signing, false).reply), "long");
});

test("an organization whose requests write megabytes has few of them under way", () => {
  const everything = 1024 * 1024 * kibibyte;
  const room = { allReplies: everything, allBytes: everything, waiting: 100, waitingBytes: everything };
  const { seen, come } = watched({ ...room, inFlight: 64, allInFlight: 900 });
  const state = { body: new Uint8Array(300), cost: 500, stateLength: 4 * 1024 * kibibyte };
  for (let i = 0; i < 64; i++) come("a", "a", weightOf(state, i === 0));
  assert.ok(seen.length > 1 && seen.length <= 5, `${seen.length}`);
  for (let i = 0; i < 64; i++) come("b", "b", weightOf({ ...state, stateLength: 4 * kibibyte }, i === 0));
  assert.equal(seen.filter((name) => name === "b").length, 64);
});

test("who names a thousand users takes room for what changes of them, and a signature does not", () => {
  const mebibyte = 1024 * kibibyte;
  const tagging = { body: new Uint8Array(39_000), cost: 30_000, stateLength: mebibyte };
  const bare = weightOf({ ...tagging, body: new Uint8Array(300) }, false);
  assert.ok(weightOf(tagging, false).reply - bare.reply > 0.9 * mebibyte);
  const small = { ...tagging, stateLength: 4 * kibibyte };
  assert.ok(weightOf(small, false).reply <= 2 * 39_000 + 2 * 30_000 + 3 * 4 * kibibyte);
  const [signing, long] = [
    { ...tagging, stateShare: 1 / 4 },
    { ...tagging, body: new Uint8Array(60_000), stateShare: 1 / 4 },
  ];
  assert.equal(weightOf(long, false).reply - weightOf(signing, false).reply, 2 * (60_000 - 39_000));
});

test("a parent's pages count where they are kept with app proofs, whatever the sub-organization has", () => {
  const mebibyte = 1024 * kibibyte;
  const login = { body: new Uint8Array(300), cost: 500, stateLength: 10 * kibibyte };
  const [bare, proven] = [weightOf(login, false), weightOf({ ...login, parentLength: 4 * mebibyte }, false)];
  assert.equal(proven.reply - bare.reply, 4 * mebibyte);
  assert.ok(proven.cost > bare.cost);
});

test("pages that a deletion of a thousand keys will ask for count before the signer asks for them, and once", () => {
  const mebibyte = 1024 * kibibyte;
  const factsLength = factsOfRecords(1_000, 16 * mebibyte);
  assert.equal(factsLength, 16 * mebibyte);
  assert.equal(factsOfRecords(32, 16 * mebibyte), 2 * mebibyte);
  const deletion = { body: new Uint8Array(40 * kibibyte), cost: 100_000, stateLength: 10 * kibibyte, factsLength };
  const expected = weightOf(deletion, true);
  assert.ok(expected.offered > factsLength && expected.reply >= factsLength && expected.cost > 300_000);
  const sent = { state: undefined, others: [], records: [] };
  for (const pages of [[], [{ name: "keyFacts/00", content: new Uint8Array(factsLength) }]]) {
    const { offered, reply } = weightAsSent(deletion, expected, { ...sent, pages });
    assert.deepEqual([offered, reply], [factsLength, expected.reply]);
  }
  const everything = 1024 * mebibyte;
  const { seen, come } = watched({ ...room(32 * mebibyte), waiting: 100, waitingBytes: everything });
  for (let i = 0; i < 10; i++) come("a", "a", expected);
  assert.equal(seen.length, 1);

  function room(allBytes: number) {
    return { allReplies: everything, allBytes, inFlight: 64, allInFlight: 900, cost: everything, allCost: everything };
  }
});

test("who stops waiting gives up its place, and nothing is kept of it", async () => {
  const { admission, seen, come } = watched({ inFlight: 1, waiting: 1 });
  const leave = come("a", "1");
  const waiting = new AbortController();
  const turn = admission.enter("a", { cost: 500, bytes: 100 }, "", waiting.signal);
  assert.ok(turn);
  const refusal = assert.rejects(turn, { code: "cancelled", message: "the connection was closed" });
  waiting.abort();
  await refusal;
  assert.equal(admission.waitingBytes(), 0);
  come("a", "2");
  leave();
  await breath();
  assert.deepEqual(seen, ["1", "2"]);
});

test("who was let in does not stop any more", async () => {
  const { admission, seen, come } = watched({ inFlight: 1 });
  const leave = come("a", "1");
  const waiting = new AbortController();
  const turn = admission.enter("a", { cost: 500, bytes: 100 }, "", waiting.signal);
  come("a", "2");
  leave();
  await turn;
  waiting.abort();
  await breath();
  assert.deepEqual(seen, ["1"]);
  admission.leave("a", { cost: 500, bytes: 100 });
  await breath();
  assert.deepEqual(seen, ["1", "2"]);
});

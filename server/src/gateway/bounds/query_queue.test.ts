import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { type TestContext, test } from "node:test";
import { setImmediate as breath } from "node:timers/promises";
import { patienceMs } from "../../../../core/test/patience.ts";
import { takeLongTurn } from "../../store/long_turn.ts";
import { createAdmission } from "./admission.ts";
import { queryLimits } from "./memory_bounds.ts";
import { createQueryQueue } from "./query_queue.ts";

const patient = { ...queryLimits, waitMs: patienceMs };

/** A queue by a clock that only the test moves. Nobody rests in it: what rests are left with is written down. */
function rig({ isAlone = true, limits = patient } = {}) {
  const admission = createAdmission(limits);
  const rests: number[] = [];
  const { leave } = admission;
  admission.leave = (organizationId, weight, restMs = 0) => {
    rests.push(restMs);
    leave(organizationId, weight);
  };
  let nowMs = 1_000;
  const meters = new AsyncLocalStorage<{ ms: number }>();
  const measure = <T>(asked: () => Promise<T> | T) => {
    const meter = { ms: 0 };
    return { value: meters.run(meter, () => Promise.try(asked)), workedMs: () => meter.ms };
  };
  const presence = { seen: () => undefined, isAlone: () => isAlone };
  const queue = createQueryQueue({ admission, presence, measure, now: () => nowMs });
  const work = (ms: number) => {
    nowMs += ms;
    const meter = meters.getStore();
    if (meter !== undefined) meter.ms += ms;
  };
  const ask = <T>(organizationId: string, ofWork: () => Promise<T>, caller = "ann") =>
    queue.answer({ organizationId, caller, bytes: 100 }, ofWork);
  return { queue, rests, work, ask };
}

/** Queries that go on for a few turns of the loop and work for so long in the last of them, and the most of them at once. */
function counted(work: () => void) {
  const count = { now: 0, most: 0, done: 0 };
  const run = async () => {
    count.now += 1;
    count.most = Math.max(count.most, count.now);
    for (let turn = 0; turn < 3; turn++) await breath();
    work();
    count.now -= 1;
    count.done += 1;
  };
  return { count, run };
}

test("an organization whose queries take long has one answered at a time, and another's does not wait for them", async () => {
  const { work, ask } = rig();
  const slow = counted(() => work(20));
  await ask("a", slow.run);
  const flood = Array.from({ length: 20 }, () => ask("a", slow.run));
  const before = slow.count.done;
  await ask("b", async () => undefined);
  assert.ok(slow.count.done - before <= 1, "it waited for the others");
  await Promise.all(flood);
  assert.equal(slow.count.most, 1);
});

test("the first query of an organization goes alone, and what it takes decides about those that wait for it", async () => {
  for (const { tookMs, atOnce } of [
    { tookMs: 20, atOnce: 1 },
    { tookMs: 0.1, atOnce: 4 },
  ]) {
    const { work, ask } = rig();
    let isFirstOver = false;
    const first = ask("a", async () => {
      await counted(() => work(tookMs)).run();
      isFirstOver = true;
    });
    const others = counted(() => work(tookMs));
    const waiting = Array.from({ length: 12 }, () =>
      ask("a", async () => {
        assert.ok(isFirstOver);
        await others.run();
      }),
    );
    await Promise.all([first, ...waiting]);
    assert.equal(others.count.most, atOnce);
  }
});

test("where the first query has waited too long, the next one goes alone instead of it", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const { work, ask } = rig({ limits: { ...queryLimits, waitMs: 300 } });
  // As many first ones as may be under way at once.
  const held = Promise.withResolvers<void>();
  const others = Array.from({ length: queryLimits.allInFlight }, (_, n) => ask(`other ${n}`, () => held.promise));
  let refusals = 0;
  const first = ask("a", assert.fail).catch((fault) => {
    assert.equal(fault.code, "resource_exhausted");
    refusals += 1;
  });
  nowMs = 200;
  const slow = counted(() => work(20));
  const waiting = Array.from({ length: 4 }, () => ask("a", slow.run));
  nowMs = 301;
  while (refusals === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  for (let turn = 0; turn < 10; turn++) await breath();
  assert.equal(slow.count.done, 0, "there is no place yet for a query that nobody knows the length of");
  held.resolve();
  await Promise.all([first, ...others, ...waiting]);
  assert.deepEqual([slow.count.done, slow.count.most], [4, 1]);
});

test("quick queries do not hide a long one", async () => {
  const { work, ask } = rig();
  await ask("a", async () => work(20));
  for (let i = 0; i < 20; i++) await ask("a", async () => work(0.1));
  const queries = counted(() => work(0.1));
  await Promise.all(Array.from({ length: 4 }, () => ask("a", queries.run)));
  assert.equal(queries.count.most, 1);
  for (let i = 0; i < 100; i++) await ask("a", async () => work(0.1));
  await Promise.all(Array.from({ length: 4 }, () => ask("a", queries.run)));
  assert.equal(queries.count.most, 4, "what was long ago is forgotten");
});

/** A query that turns out to be long after it has begun. */
function turningLong(underWay: { now: number; most: number; done: number }) {
  return async () => {
    await takeLongTurn();
    underWay.now += 1;
    underWay.most = Math.max(underWay.most, underWay.now);
    for (let turn = 0; turn < 3; turn++) await breath();
    underWay.now -= 1;
    underWay.done += 1;
  };
}

test("of queries that turn out to be long an organization has one under way, whatever it asked before", async () => {
  const { work, ask, queue } = rig();
  for (let i = 0; i < 200; i++) await ask("a", async () => work(0.1));
  const long = { now: 0, most: 0, done: 0 };
  await Promise.all(Array.from({ length: 16 }, () => ask("a", turningLong(long))));
  assert.deepEqual(long, { now: 0, most: 1, done: 16 });
  assert.deepEqual(queue.waitingBytes(), { queries: 0, longQueries: 0 });
});

test("three long ones are under way of all organizations, and who asks for little does not wait for the others", async () => {
  const { work, ask } = rig();
  const organizations = Array.from({ length: 8 }, (_, n) => `sub ${n}`);
  for (const each of [...organizations, "b"]) await ask(each, async () => work(0.1));
  const long = { now: 0, most: 0, done: 0 };
  const flood = organizations.flatMap((each) => Array.from({ length: 16 }, () => ask(each, turningLong(long))));
  for (let turn = 0; turn < 5; turn++) await breath();
  const before = long.done;
  await ask("b", async () => undefined);
  assert.ok(long.done - before <= 3, `${long.done - before} were before it`);
  const own = { now: 0, most: 0, done: 0 };
  await ask("b", turningLong(own));
  assert.ok(long.done < 3 * 16, `${long.done} were before its long one`);
  await Promise.all(flood);
  assert.deepEqual(long, { now: 0, most: 3, done: 128 });
});

test("one that waits for its place among the long keeps no other waiting, and is refused after its time", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const { ask, queue } = rig();
  const held = Promise.withResolvers<void>();
  const holders = ["1", "2", "3"].map((id) =>
    ask(id, async () => {
      await takeLongTurn();
      await held.promise;
    }),
  );
  let refusal: unknown;
  const refused = ask("a", async () => {
    await takeLongTurn();
    assert.fail("it was not its turn");
  }).catch((error) => {
    refusal = error.code;
  });
  for (let turn = 0; turn < 10; turn++) await breath();
  await ask("a", async () => undefined);
  nowMs = queryLimits.waitMs + 1;
  while (refusal === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  await refused;
  assert.equal(refusal, "resource_exhausted");
  held.resolve();
  await Promise.all(holders);
  await ask("a", turningLong({ now: 0, most: 0, done: 0 }));
  assert.deepEqual(queue.waitingBytes(), { queries: 0, longQueries: 0 });
});

test("what was done before and after that turn is charged, each once, and short queries stay short", async () => {
  const { ask, work, rests } = rig({ isAlone: false });
  await ask("a", async () => work(40));
  await ask("a", async () => {
    work(1);
    await takeLongTurn();
    work(100);
  });
  await ask("a", async () => work(1));
  assert.deepEqual(rests, [40, 43, 346]);
});

test("what an organization's queries take is remembered, however many others come", async () => {
  const { work, ask } = rig();
  await ask("a", async () => work(20));
  for (let i = 0; i < 6_000; i++) await ask(`other ${i}`, async () => undefined);
  const slow = counted(() => work(20));
  await Promise.all([ask("a", async () => undefined), ask("a", slow.run), ask("a", slow.run)]);
  assert.equal(slow.count.most, 1);
});

test("callers of one organization take turns", async () => {
  const { work, ask } = rig();
  await ask("a", async () => work(20));
  const order: string[] = [];
  const asking = (caller: string) =>
    ask(
      "a",
      async () => {
        order.push(caller);
        work(20);
      },
      caller,
    );
  await Promise.all([...Array.from({ length: 10 }, () => asking("eve")), asking("ann")]);
  assert.ok(order.indexOf("ann") <= 2, `${order}`);
});

test("what an organization took of the thread it rests for while others are there, and only then", async () => {
  const withOthers = rig({ isAlone: false });
  for (let i = 0; i < 4; i++) await withOthers.ask("a", async () => withOthers.work(20));
  assert.deepEqual(withOthers.rests, [0, 40, 100, 160]);
  const alone = rig();
  for (let i = 0; i < 4; i++) await alone.ask("a", async () => alone.work(20));
  assert.deepEqual(alone.rests, [0, 0, 0, 0]);
});

test("what a submit reads is charged with the queries of its organization, and little is not", async () => {
  const { queue, rests, work, ask } = rig({ isAlone: false });
  const read = (ms: number) => queue.readForSubmit("a", () => work(ms));
  assert.equal(await read(20), 0);
  assert.equal(await read(100), 280);
  assert.equal(await read(0.5), 0);
  await ask("a", async () => work(1));
  assert.deepEqual(rests, [282.5]);
  assert.equal(await read(2_000), 1_000);
});

test("who is alone does not rest for what it reads", async () => {
  const { queue, work } = rig();
  assert.equal(await queue.readForSubmit("a", () => work(2_000)), 0);
});

test("reading that fails fails for who reads", async () => {
  const { queue } = rig();
  await assert.rejects(async () => queue.readForSubmit("a", () => Promise.reject(new Error("no"))), /no/);
});

/** Turns of the loop, by number. */
function countTurns(t: TestContext): () => number {
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  t.after(() => clearImmediate(counting));
  return () => turn;
}

test("of many long queries that come in one tick one is answered in each turn of the loop, the first ones as well", async (t) => {
  const { work, ask } = rig();
  const turn = countTurns(t);
  for (let flood = 0; flood < 2; flood++) {
    const answered: number[] = [];
    // Nothing in them waits: all of it is work of this thread.
    const query = async () => {
      answered.push(turn());
      work(20);
    };
    await Promise.all(Array.from({ length: 16 }, () => ask("a", query)));
    assert.equal(new Set(answered).size, 16);
  }
});

test("queries that only wait for the database are answered at once, however long that takes", async () => {
  const { ask } = rig();
  await ask("a", async () => undefined);
  const waiting = counted(() => undefined);
  await Promise.all(Array.from({ length: 10 }, () => ask("a", waiting.run)));
  assert.equal(waiting.count.most, 10);
});

test("a query that fails gives its turn back", async () => {
  const { queue, ask } = rig();
  const failing = async () => {
    await breath();
    throw new Error("no");
  };
  for (let i = 0; i < 40; i++) await assert.rejects(ask("a", failing));
  await Promise.all(Array.from({ length: 40 }, () => assert.rejects(ask("b", failing))));
  await ask("a", async () => undefined);
  assert.deepEqual(queue.waitingBytes(), { queries: 0, longQueries: 0 });
});

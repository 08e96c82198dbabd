import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { patienceMs } from "../../../../core/test/patience.ts";
import { memoryBounds } from "../bounds/memory_bounds.ts";
import { Overloaded } from "../bounds/overloaded.ts";
import { createProxyTurns, proxyTurnLimits } from "./proxy_turns.ts";

const patient = { ...proxyTurnLimits, waitMs: patienceMs };
const here = "203.0.113.7";
const there = "203.0.113.8";

/** Work that waits a moment, and the most of it at once. */
function counted() {
  const count = { now: 0, most: 0, done: 0 };
  const work = async () => {
    count.now += 1;
    count.most = Math.max(count.most, count.now);
    await pause(1);
    count.now -= 1;
    count.done += 1;
  };
  return { count, work };
}

test("one request of an address is read at a time, and another address does not wait for forty of them", async () => {
  const turns = createProxyTurns({ limits: patient });
  const { count, work } = counted();
  const flood = Array.from({ length: 41 }, () => turns.take(here, 100, work));
  await turns.take(there, 100, async () => undefined);
  assert.ok(count.done <= 1, `${count.done} were before it`);
  await Promise.all(flood);
  assert.deepEqual([count.most, count.done], [1, 41]);
  assert.equal(turns.waitingBytes(), 0);
});

test("a /64 of IPv6 is one address, and so are all that are unknown", async () => {
  for (const addresses of [
    ["2001:db8::1", "2001:db8::2"],
    [undefined, undefined],
  ]) {
    const { count, work } = counted();
    const turns = createProxyTurns({ limits: patient });
    await Promise.all(addresses.map((address) => turns.take(address, 100, work)));
    assert.equal(count.most, 1);
  }
});

test("whoever has a /48 keeps nobody waiting, however many of its addresses ask", async () => {
  const turns = createProxyTurns({ limits: patient });
  const { count, work } = counted();
  const flood = Array.from({ length: 41 }, (_, index) => turns.take(`2001:db8:1:${index.toString(16)}::1`, 100, work));
  await turns.take("2001:db8:2::1", 100, async () => undefined);
  assert.ok(count.done <= 1, `${count.done} were before it`);
  await Promise.all(flood);
  assert.equal(count.most, 1);
});

test("of many addresses two are read at once, and each has its turn before one has its second", async () => {
  const turns = createProxyTurns({ limits: patient });
  const { count, work } = counted();
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      turns.take(`203.0.113.${index % 10}`, 100, async () => {
        order.push(index % 10);
        await work();
      }),
    ),
  );
  assert.equal(count.most, 2);
  assert.equal(new Set(order.slice(0, 10)).size, 10, order.join(" "));
});

test("of requests that come in one tick one is read in a turn of the loop", async () => {
  const turns = createProxyTurns({ limits: patient });
  let isNew = true;
  const work = async () => {
    assert.ok(isNew, "two in one turn");
    isNew = false;
    void nextTurn().then(() => {
      isNew = true;
    });
  };
  await Promise.all(Array.from({ length: 16 }, () => turns.take(here, 100, work)));
});

/** Two turns of one address, the first of which takes so long; how long after it the second begins, in whole milliseconds. */
async function restOf(t: TestContext, tookMs: number, isAlone: boolean): Promise<number> {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const measure = <T>(work: () => Promise<T> | T) => ({ value: Promise.try(work), workedMs: () => tookMs });
  const options = { presence: { isAlone: () => isAlone }, measure };
  const turns = createProxyTurns({ limits: patient, ...options });
  let done = 0;
  const work = async () => {
    done += 1;
  };
  const both = Promise.all([turns.take(here, 100, work), turns.take(here, 100, work)]);
  for (let i = 0; i < 10; i++) await nextTurn();
  let waitedMs = 0;
  for (; done < 2; waitedMs++) {
    t.mock.timers.tick(1);
    await nextTurn();
  }
  await both;
  t.mock.timers.reset();
  return waitedMs;
}

test("while somebody is served each turn is followed by a rest of six times what it took, up to a bound; else by none", async (t) => {
  assert.equal(await restOf(t, 3, false), 18);
  assert.equal(await restOf(t, 3_600_000, false), 50);
  assert.equal(await restOf(t, 3, true), 0);
});

test("what waits is bounded in bytes, and the address with most of it gives way", async () => {
  const turns = createProxyTurns({ limits: patient });
  const block = Promise.withResolvers<void>();
  const busy = ["203.0.113.1", "203.0.113.2"].map((address) => turns.take(address, 100, () => block.promise));
  const bytes = 64 * 1024;
  const flood = Array.from({ length: 200 }, () => turns.take(here, bytes, async () => undefined));
  const settled = Promise.allSettled(flood);
  await nextTurn();
  assert.ok(turns.waitingBytes() > memoryBounds.proxy - 2 * bytes, "not much waits");
  assert.ok(turns.waitingBytes() <= memoryBounds.proxy);
  const other = turns.take(there, bytes, async () => "read");
  await nextTurn();
  assert.ok(turns.waitingBytes() <= memoryBounds.proxy);
  block.resolve();
  assert.equal(await other, "read");
  await Promise.all(busy);
  const refused = (await settled).flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  assert.ok(refused.length > 70 && refused.length < 100, `${refused.length} were refused`);
  for (const error of refused) {
    assert.ok(error instanceof Overloaded, "these leave slowly");
    assert.equal(error.message, "too many requests at once; try again later");
  }
  assert.equal(turns.waitingBytes(), 0);
});

test("so many of an address wait, and none for longer than it may", async () => {
  const turns = createProxyTurns({ limits: { ...proxyTurnLimits, waiting: 3, waitMs: 50 } });
  const block = Promise.withResolvers<void>();
  const busy = turns.take(here, 100, () => block.promise);
  const waiting = Array.from({ length: 3 }, () => turns.take(here, 100, async () => undefined));
  await assert.rejects(
    turns.take(here, 100, async () => undefined),
    Overloaded,
  );
  for (const each of waiting) {
    await assert.rejects(each, { code: "resource_exhausted", message: "too many requests wait; try again" });
  }
  block.resolve();
  await busy;
  await turns.take(here, 100, async () => undefined);
});

test("work that fails gives its turn back", async () => {
  const turns = createProxyTurns({ limits: patient });
  for (let i = 0; i < 5; i++)
    await assert.rejects(
      turns.take(here, 100, () => Promise.reject(new Error("no"))),
      /no/,
    );
  await turns.take(here, 100, async () => undefined);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFetchSlots } from "./fetch_slots.ts";

const never = new AbortController().signal;

test("a host that has all of its own holds up no other, and what ends lets the next one begin", async () => {
  const slots = createFetchSlots({ total: 3, perHost: 2, waiting: 10 });
  const begun: string[] = [];
  const take = async (host: string) => {
    const end = await slots.take(host, never);
    begun.push(host);
    return end;
  };
  const [endA] = await Promise.all([take("a"), take("a")]);
  const waiting = take("a");
  const endB = await take("b");
  const later = take("c");
  await new Promise(setImmediate);
  assert.deepEqual(begun, ["a", "a", "b"]);
  endB?.();
  await later;
  endA?.();
  endA?.();
  await waiting;
  assert.deepEqual(begun, ["a", "a", "b", "c", "a"]);
});

test("one that is given up while it waits leaves its place, and one too many is refused", async () => {
  const slots = createFetchSlots({ total: 1, perHost: 1, waiting: 1 });
  const end = await slots.take("a", never);
  const controller = new AbortController();
  const waiting = slots.take("b", controller.signal);
  await assert.rejects(slots.take("c", never), { kind: "busy" });
  controller.abort(new Error("over"));
  await assert.rejects(waiting, { message: "over" });
  const next = slots.take("c", never);
  end();
  (await next)();
  (await slots.take("d", never))();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { limitLog } from "./log_limiter.ts";

test("the same is said once, other reasons and other messages by themselves, and it again after a while", (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const said: string[] = [];
  const say = limitLog(50, (message, cause) => said.push(`${message}: ${(cause as Error).message}`));
  for (let i = 0; i < 5; i++) say("not committed", new Error("disk is full"));
  say("not committed", new Error("disk fails"));
  say("not released", new Error("disk is full"));
  assert.deepEqual(said, ["not committed: disk is full", "not committed: disk fails", "not released: disk is full"]);
  nowMs = 49;
  say("not committed", new Error("disk is full"));
  assert.equal(said.length, 3);
  nowMs = 50;
  say("not committed", new Error("disk is full"));
  assert.equal(said.length, 4);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as breath } from "node:timers/promises";
import { sharedCheck } from "./shared_check.ts";

test("one check at a time answers everybody who asks meanwhile and shortly after, and then there is another", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let checks = 0;
  const check = sharedCheck(10, async () => {
    checks++;
    await breath();
    return checks;
  });
  assert.deepEqual(await Promise.all([check(), check(), check()]), [1, 1, 1]);
  t.mock.timers.tick(9);
  assert.equal(await check(), 1);
  t.mock.timers.tick(1);
  assert.deepEqual(await Promise.all([check(), check()]), [2, 2]);
});

test("a check that fails is made again, too", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let checks = 0;
  const check = sharedCheck(10, async () => {
    if (++checks === 1) throw new Error("away");
    return "well";
  });
  await assert.rejects(Promise.all([check(), check()]), /away/);
  t.mock.timers.tick(9);
  await assert.rejects(check(), /away/);
  t.mock.timers.tick(1);
  assert.equal(await check(), "well");
  assert.equal(checks, 2);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedCheck } from "./shared_check.ts";

test("one check at a time answers everybody who asks meanwhile and shortly after, and then there is another", async () => {
  let checks = 0;
  const check = sharedCheck(10, async () => {
    checks++;
    await new Promise((resolve) => setTimeout(resolve, 10));
    return checks;
  });
  assert.deepEqual(await Promise.all([check(), check(), check()]), [1, 1, 1]);
  while ((await check()) === 1) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(await check(), 2);
});

test("a check that fails is made again, too", async () => {
  let checks = 0;
  const check = sharedCheck(1, async () => {
    if (++checks === 1) throw new Error("away");
    return "well";
  });
  await assert.rejects(Promise.all([check(), check()]), /away/);
  while ((await check().catch(() => "ill")) === "ill") await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(checks, 2);
});

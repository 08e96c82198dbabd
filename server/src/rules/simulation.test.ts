import assert from "node:assert/strict";
import { test } from "node:test";
import type { DraftPolicy } from "../fields/simulation.ts";
import { compiledOf } from "./policies.ts";
import { checkDrafts, withDrafts } from "./simulation.ts";

const condition = `activity.kind == '${"x".repeat(4_000)}'`;

function drafts(count: number): DraftPolicy[] {
  return Array.from({ length: count }, (_, index) => ({
    policyName: `Draft ${index}`,
    effect: "EFFECT_ALLOW",
    condition,
  }));
}

const breath = () => Promise.resolve();

test("drafts are taken up to a length together, because each question compiles them anew", async () => {
  const most = Math.floor((128 * 1024) / condition.length);
  const page = withDrafts(new Map(), await checkDrafts({ add: drafts(most) }, breath));
  assert.equal(page.size, most);
  const message = /^policies: drafts with \d+ characters together, where 131072 are taken; ask about fewer at once$/;
  const tooLong = { code: "invalid_argument", message };
  await assert.rejects(checkDrafts({ add: drafts(most + 1) }, breath), tooLong);
  const [policyId = ""] = page.keys();
  const replace = drafts(most + 1).map((draft) => ({ ...draft, policyId }));
  await assert.rejects(checkDrafts({ replace }, breath), tooLong);
});

test("others are served after each draft that is compiled", async () => {
  let breaths = 0;
  const replace = [{ policyId: "1", effect: "EFFECT_DENY" as const, condition: "true" }];
  await checkDrafts({ add: drafts(3), replace }, async () => void breaths++);
  assert.equal(breaths, 4);
});

test("a draft that replaces a policy has its name and its own expressions", async () => {
  const page = withDrafts(new Map(), await checkDrafts({ add: drafts(1) }, breath));
  const [policyId = ""] = page.keys();
  const replace = [{ policyId, effect: "EFFECT_DENY" as const, condition: "true" }];
  const [policy] = withDrafts(page, await checkDrafts({ replace }, breath)).values();
  const { policyName, effect, condition: text } = policy ?? {};
  assert.deepEqual({ policyName, effect, text }, { policyName: "Draft 0", effect: "EFFECT_DENY", text: "true" });
  assert.equal(policy && compiledOf(policy).effect, "EFFECT_DENY");
});

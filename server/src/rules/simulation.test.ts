import assert from "node:assert/strict";
import { test } from "node:test";
import type { DraftPolicy } from "../fields/simulation.ts";
import type { Policy } from "../state/entities.ts";
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

test("no draft has the name of a policy or of another draft, however it is written", async () => {
  const page = withDrafts(new Map(), await checkDrafts({ add: drafts(2) }, breath));
  const named = (...policyNames: string[]) =>
    checkDrafts({ add: policyNames.map((policyName) => ({ policyName, effect: "EFFECT_ALLOW" as const })) }, breath);
  const taken = (holder: string) => ({ message: `policy label must be unique: \`${holder}\` exists` });
  const other = new Map([["other", { ...page.values().next().value, policyId: "other" } as Policy]]);
  const equal = await named("One", "oNE");
  assert.throws(() => withDrafts(new Map(), equal), taken("One"));
  const stored = await named("DRAFT 0");
  assert.throws(() => withDrafts(other, stored), taken("Draft 0"));
  assert.equal(withDrafts(other, await named("One", "Two")).size, 3);
  const freed = { ...stored, remove: ["other"] };
  assert.equal(withDrafts(other, freed).size, 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DraftPolicy } from "../fields/simulation.ts";
import { withDrafts } from "./simulation.ts";

const condition = `activity.kind == '${"x".repeat(4_000)}'`;

function drafts(count: number): DraftPolicy[] {
  return Array.from({ length: count }, (_, index) => ({
    policyName: `Draft ${index}`,
    effect: "EFFECT_ALLOW",
    condition,
  }));
}

test("drafts are taken up to a length together, because each question compiles them anew", () => {
  const most = Math.floor((128 * 1024) / condition.length);
  assert.equal(withDrafts(new Map(), { add: drafts(most) }).size, most);
  const message = /^policies: drafts with \d+ characters together, where 131072 are taken; ask about fewer at once$/;
  assert.throws(() => withDrafts(new Map(), { add: drafts(most + 1) }), { code: "invalid_argument", message });
  const page = withDrafts(new Map(), { add: drafts(1) });
  const [policyId = ""] = page.keys();
  const replace = drafts(most + 1).map((draft) => ({ ...draft, policyId }));
  assert.throws(() => withDrafts(page, { replace }), { code: "invalid_argument", message });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConditionFacts } from "../facts/facts.ts";
import { compileNeeds, findAbsent, isApplicable, presentIn } from "./needs.ts";

const bare: ConditionFacts = {
  activity: { type: "t", kind: "k", resource: "r", action: "a" },
  params: {},
  paramNames: new Set(["type"]),
};

/** Each namespace, and the smallest view that has it. */
const namespaces: readonly [name: string, view: Partial<ConditionFacts>][] = [
  ["wallet", { wallet: {} }],
  ["wallets", { wallets: [] }],
  ["wallet_account", { wallet_account: {} }],
  ["private_key", { private_key: {} }],
  ["secret", { secret: {} }],
  ["eth.tx", { eth: { tx: {} } }],
  ["eth.eip_712", { eth: { eip_712: {} } }],
  ["eth.eip_7702_authorization", { eth: { eip_7702_authorization: {} } }],
  ["solana.tx", { solana: { tx: {} } }],
  ["bitcoin.tx", { bitcoin: { tx: {} } }],
  ["tron.tx", { tron: { tx: {} } }],
  ["tempo.tx", { tempo: { tx: {} } }],
  ["activity.params.user_id", { paramNames: new Set(["user_id"]) }],
];

for (const [name, part] of namespaces) {
  test(`a condition on ${name} applies to activities that have it, and to no others`, () => {
    const needs = compileNeeds([name]);
    for (const [other, otherPart] of namespaces) {
      const view = { ...bare, ...otherPart };
      assert.equal(isApplicable(needs, view, presentIn(view)), other === name, other);
      assert.equal(findAbsent(needs, view, presentIn(view)), other === name ? undefined : name);
    }
    assert.equal(isApplicable(needs, { ...bare, ...part }, presentIn({ ...bare, ...part })), true);
  });
}

test("all that is needed must be there", () => {
  const needs = compileNeeds(["eth.tx", "wallet", "activity.params.type"]);
  const view = { ...bare, eth: { tx: {} } };
  assert.equal(isApplicable(needs, view, presentIn(view)), false);
  assert.equal(findAbsent(needs, view, presentIn(view)), "wallet");
  const full = { ...view, wallet: {} };
  assert.equal(isApplicable(needs, full, presentIn(full)), true);
});

test("a name that no activity has is never there, and nothing needed is always there", () => {
  assert.equal(isApplicable(compileNeeds(["unknown.tx"]), bare, presentIn(bare)), false);
  assert.equal(isApplicable(compileNeeds([]), bare, presentIn(bare)), true);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { BudgetSpent } from "../bounds/budget_spent.ts";
import { addressKey, createHourlyBudget } from "./address_budgets.ts";

const exhausted = { code: "resource_exhausted", errorCode: "RATE_LIMIT_EXCEEDED" };

test("an address takes as many as its budget in any hour, and others are not concerned", () => {
  let nowMs = 0;
  const budget = createHourlyBudget(2, () => nowMs);
  budget.take("203.0.113.7");
  nowMs = 1_800_000;
  budget.take("203.0.113.7");
  assert.throws(() => budget.take("203.0.113.7"), exhausted);
  budget.take("203.0.113.8");
  nowMs = 3_600_001;
  budget.take("203.0.113.7");
  assert.throws(() => budget.take("203.0.113.7"), exhausted);
});

test("what an address has taken costs the same memory however much it is, and counts for an hour to five minutes", () => {
  let nowMs = 0;
  const budget = createHourlyBudget(1_000_000, () => nowMs);
  for (let taken = 0; taken < 200_000; taken++) {
    nowMs += 30;
    budget.take("203.0.113.7");
  }
  const narrow = createHourlyBudget(1, () => nowMs);
  nowMs = 299_999;
  narrow.take("203.0.113.7");
  nowMs = 3_599_999;
  assert.throws(() => narrow.take("203.0.113.7"), exhausted);
  nowMs = 3_600_000;
  narrow.take("203.0.113.7");
});

test("the address that asked longest ago is forgotten first when there are too many", () => {
  const budget = createHourlyBudget(1, () => 0);
  const addressOf = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  budget.take("203.0.113.7");
  for (let index = 0; index < 19_999; index++) budget.take(addressOf(index));
  // Being refused counts as asking.
  assert.throws(() => budget.take("203.0.113.7"), exhausted);
  budget.take(addressOf(20_000));
  assert.throws(() => budget.take("203.0.113.7"), exhausted);
  budget.take(addressOf(0));
});

test("looking at a budget takes nothing of it, throws where taking would, and keeps no address remembered", () => {
  let nowMs = 0;
  const budget = createHourlyBudget(1, () => nowMs);
  const here = "203.0.113.7";
  for (let i = 0; i < 3; i++) budget.check(here);
  budget.take(here);
  assert.throws(() => budget.check(here), exhausted);
  assert.throws(() => budget.check(here), BudgetSpent);
  assert.throws(() => budget.take(here), BudgetSpent);
  budget.check("203.0.113.8");
  nowMs = 3_600_000;
  budget.check(here);
  budget.take(here);
  for (let index = 0; index < 20_000; index++) {
    if (index < 19_999) assert.throws(() => budget.check(here), exhausted);
    budget.take(`10.0.${index >> 8}.${index & 255}`);
  }
  budget.check(here);
});

test("a budget of 0 lets nobody through", () => {
  assert.throws(() => createHourlyBudget(0).take("203.0.113.7"), exhausted);
  assert.throws(() => createHourlyBudget(0).check("203.0.113.7"), exhausted);
});

test("addresses of one IPv6 network are one, however they are written", () => {
  assert.equal(addressKey("2001:db8:1:2::1"), addressKey("2001:db8:1:2:3:4:5:6"));
  assert.equal(addressKey("2001:db8::1"), addressKey("2001:db8::ffff"));
  assert.notEqual(addressKey("2001:db8:1:2::1"), addressKey("2001:db8:1:3::1"));
  assert.equal(addressKey("::1"), "0:0:0:0");
  assert.equal(addressKey("203.0.113.7"), "203.0.113.7");
  assert.equal(addressKey(undefined), "unknown");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { rangeOf } from "../evaluation/compiler.ts";
import { observationsOf } from "../evaluation/observed.ts";
import { Scope, voicesOf } from "../evaluation/scope.ts";
import { compilePolicy, type PolicyText } from "./compiled_policy.ts";

const empty: PolicyText = { effect: "EFFECT_ALLOW", consensus: "", condition: "", time: "" };

test("an expression that is left out is true, needs nothing and has no text", () => {
  const policy = compilePolicy(empty);
  const scope = new Scope(undefined, voicesOf([]), 0);
  for (const expression of [policy.consensus, policy.condition, policy.time]) {
    assert.equal(expression.evaluate(scope), true);
    assert.equal(expression.source, "");
  }
  assert.deepEqual(policy.needs, { names: [], bits: 0, params: [] });
  assert.equal(policy.relevance.countsAnyone, false);
});

test("a policy keeps its texts as they were written", () => {
  const condition = "  eth.tx.gasPrice<=5\n&&  true ";
  assert.equal(compilePolicy({ ...empty, condition }).condition.source, condition);
});

test("a mistake in any of the three expressions is refused by the name of that expression", () => {
  for (const kind of ["consensus", "condition", "time"] as const) {
    for (const source of [" ", "nonsense", "1", "'a'", "true &&", "true // why"]) {
      const message = new RegExp(`^invalid policy ${kind}: .* at position \\d+`);
      assert.throws(() => compilePolicy({ ...empty, [kind]: source }), {
        name: "Fault",
        code: "invalid_argument",
        message,
      });
    }
  }
});

test("the clauses of an expression are the operands of its outermost `&&`", () => {
  const clausesOf = (condition: string): string[] =>
    compilePolicy({ ...empty, condition }).condition.clauses.map(({ place }) => {
      const { start, end } = rangeOf(place);
      return condition.slice(start, end);
    });
  assert.deepEqual(clausesOf("true"), ["true"]);
  assert.deepEqual(clausesOf("eth.tx.nonce == 1 || true"), ["eth.tx.nonce == 1 || true"]);
  assert.deepEqual(clausesOf("true && (false || true) && 1 == 1").length, 3);
});

test("the whole of an expression is what its clauses are together", () => {
  const scope = new Scope(undefined, voicesOf([]), 0);
  for (const condition of [
    "true && true",
    "true && false",
    "true && 1 == 1 && !false",
    "[1].any(x, x == 1) && false",
  ]) {
    const { evaluate, clauses } = compilePolicy({ ...empty, condition }).condition;
    assert.equal(
      evaluate(scope),
      clauses.every((clause) => clause.evaluate(scope) === true),
    );
  }
});

test("a compiled policy does not keep the tree that it was compiled from", (t) => {
  const clause = "activity.resource == 'x' || ";
  const about = (user: string) => `approvers.any(user, user.id == '${user}')`;
  const texts: Partial<PolicyText>[] = [
    { condition: `${clause.repeat(120)}activity.kind == 'CREATE'` },
    { consensus: Array.from({ length: 80 }, (_, at) => about(`${at}`)).join(" || ") },
  ];
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (const text of texts) {
    const kept = [compilePolicy({ ...empty, ...text })];
    collect();
    const before = process.memoryUsage().heapUsed;
    while (kept.length <= 100) kept.push(compilePolicy({ ...empty, ...text }));
    collect();
    const bytes = (process.memoryUsage().heapUsed - before) / (kept.length - 1);
    const length = (text.condition ?? text.consensus ?? "").length;
    t.diagnostic(`${Math.round(bytes)} bytes for ${length} characters`);
    // With its tree it would have thirty times as many.
    assert.ok(bytes < 24 * length, `${Math.round(bytes)} bytes for ${length} characters`);
  }
});

test("asking for the reasons of a decision leaves the decision as it was", () => {
  const { condition } = compilePolicy({ ...empty, condition: "(1 == 1) && eth.tx.nonce == 1 && [1][0] == 1" });
  const scope = new Scope(undefined, voicesOf([]), 0);
  const before = condition.evaluate(scope);
  const seen = condition.clauses.map((clause) => observationsOf(condition, clause).map(({ text }) => text));
  assert.deepEqual(seen, [[], ["eth.tx.nonce"], []]);
  assert.deepEqual(condition.evaluate(scope), before);
  for (const clause of condition.clauses) assert.equal(observationsOf(condition, clause), clause.observations);
});

/** What every published policy we know of decides, in cases of our own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findPolicyRows, type PolicyRow, readRowCases } from "../../../test/policy_rows.ts";
import { compilePolicy } from "../decision/compiled_policy.ts";
import { parseCases } from "./case_file.ts";
import { type CaseResult, runCase } from "./cases.ts";

/** Denies everything there is, so it leaves nothing alone. */
const deniesAll = "new-skill-08";

type RowResult = CaseResult & { row: string };

function runAll(rows: ReadonlyMap<string, PolicyRow>): RowResult[] {
  return readRowCases(rows).flatMap(({ file, rows: names }) => {
    const parsed = parseCases(file);
    return parsed.cases.map((one, i) => ({ ...runCase(parsed, one), row: names[i] ?? assert.fail(one.name) }));
  });
}

test("every published policy decides each of its cases as it says: 204 policies, each both ways", (t) => {
  const rows = findPolicyRows(t);
  if (rows === undefined) return;
  const results = runAll(rows);
  assert.deepEqual(
    results
      .filter(({ passed }) => !passed)
      .map(({ name, expected, got, evaluations, error }) => ({ name, expected, got, evaluations, error })),
    [],
  );
  const policies = [...rows.values()].filter(({ kind }) => kind === "policy");
  assert.equal(policies.length, 204);
  for (const { id } of policies) {
    const verdicts = new Set(results.filter(({ row }) => row === id).map(({ got }) => got === "allow"));
    assert.equal(verdicts.size, id === deniesAll ? 1 : 2, id);
  }
  const others = [...rows.values()].filter(({ kind }) => kind !== "policy" && kind !== "invalid");
  for (const { id } of others)
    assert.ok(
      results.some(({ row }) => row === id),
      id,
    );
  t.diagnostic(`${results.length} cases over ${policies.length} policies and ${others.length} other expressions`);
});

test("the published example of a refused policy is refused", (t) => {
  const rows = findPolicyRows(t);
  if (rows === undefined) return;
  const invalid = [...rows.values()].filter(({ kind }) => kind === "invalid");
  assert.equal(invalid.length, 1);
  for (const { consensus, condition } of invalid) {
    const text = { effect: "EFFECT_ALLOW", consensus: consensus ?? "", condition: condition ?? "", time: "" } as const;
    assert.throws(() => compilePolicy(text), {
      code: "invalid_argument",
      message: /^invalid policy condition: .*`path`/,
    });
  }
});

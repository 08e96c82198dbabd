import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConditionFacts } from "../facts/facts.ts";
import { EvmText } from "../values/values.ts";
import { compilePolicy, type PolicyText } from "./compiled_policy.ts";
import { TraceBounds, trace } from "./trace.ts";

const view: ConditionFacts = {
  activity: {
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
    kind: "SIGN_TRANSACTION",
    resource: "PRIVATE_KEY",
    action: "SIGN",
  },
  params: {},
  paramNames: new Set(),
  eth: { tx: { to: new EvmText("0xAB"), value: 5n, contract_call_args: new Map() } },
};

function traced(text: Partial<PolicyText>, bounds?: TraceBounds) {
  const credential = { id: "k", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "02" };
  const user = { userId: "a", userName: "Ann", userTags: ["ops"], credentials: [credential] };
  const policy = compilePolicy({ effect: "EFFECT_ALLOW", consensus: "", condition: "", time: "", ...text });
  return trace(policy, view, [{ user, credential }], Date.parse("2026-01-15T12:00:00Z"), bounds);
}

test("every part is shown with its place and its value, parts before the whole", () => {
  const condition = "eth.tx.to == '0xab' && !(eth.tx.value > 7)";
  const entries = traced({ condition });
  assert.deepEqual(
    entries.map((entry) => [entry.text, "value" in entry ? entry.value : entry.error]),
    [
      ["eth.tx.to", "0xab"],
      ["eth.tx.to == '0xab'", "true"],
      ["eth.tx.value", "5"],
      ["eth.tx.value > 7", "false"],
      ["!(eth.tx.value > 7)", "true"],
      [condition, "true"],
    ],
  );
  for (const { text, start, end } of entries) assert.equal(condition.slice(start, end), text);
});

test("a loop is shown for each element, and errors where they happen", () => {
  const entries = traced({
    condition: "eth.tx.contract_call_args['x'] == 1 && true",
    consensus: "approvers.any(u, u.tags.contains('ops'))",
    time: "CronSpan('0 9 * * *', '8h', 'UTC')",
  });
  assert.deepEqual(
    entries.map((entry) => [entry.expression, entry.text, "value" in entry ? entry.value : entry.error]),
    [
      ["condition", "eth.tx.contract_call_args", "{}"],
      ["condition", "eth.tx.contract_call_args['x']", "`eth.tx.contract_call_args` has no entry `x`"],
      ["condition", "eth.tx.contract_call_args['x'] == 1", "`eth.tx.contract_call_args` has no entry `x`"],
      ["condition", "eth.tx.contract_call_args['x'] == 1 && true", "`eth.tx.contract_call_args` has no entry `x`"],
      ["consensus", "approvers", "[a]"],
      ["consensus", "u", "a"],
      ["consensus", "u.tags", "[ops]"],
      ["consensus", "u.tags.contains('ops')", "true"],
      ["consensus", "approvers.any(u, u.tags.contains('ops'))", "true"],
      ["time", "CronSpan('0 9 * * *', '8h', 'UTC')", "true"],
    ],
  );
});

test("a trace stays short, however long the evaluation is", () => {
  const ten = "[1,2,3,4,5,6,7,8,9,10]";
  assert.equal(traced({ condition: `${ten}.all(x, ${ten}.all(y, ${ten}.all(z, z > 0)))` }).length, 2000);
});

test("the traces of many policies share their steps and their length", () => {
  const bounds = new TraceBounds();
  const list = `[${"1, ".repeat(200)}1]`;
  const condition = `${list}.all(x, x in ${list} || x == 2)`;
  const traces = Array.from({ length: 20 }, () => traced({ condition }, bounds));
  const total = traces.flat().reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(total < 2_100_000, `${total} characters`);
  assert.ok((traces[0]?.length ?? 0) > 100);
  assert.deepEqual(traces.at(-1), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConditionFacts, UserFacts } from "../facts/facts.ts";
import { EvmText, type Value } from "../values/values.ts";
import { compilePolicy, type PolicyText } from "./compiled_policy.ts";
import { decidePolicies, type PolicyQuestion } from "./decide.ts";
import { explain, type PolicyExplanation } from "./explain.ts";

const ann: UserFacts = {
  userId: "a",
  userName: "Ann",
  userEmail: "ann@example.org",
  userTags: ["ops"],
  credentials: [{ id: "k", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "02" }],
};
const bob: UserFacts = { ...ann, userId: "b", userName: "Bob" };

const view: ConditionFacts = {
  activity: {
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
    kind: "SIGN_TRANSACTION",
    resource: "PRIVATE_KEY",
    action: "SIGN",
  },
  params: { type: "TRANSACTION_TYPE_ETHEREUM" },
  paramNames: new Set(["type"]),
  eth: {
    tx: {
      to: new EvmText("0xAB"),
      value: 5n,
      data: new EvmText(`0x${"12".repeat(300)}`),
      contract_call_args: new Map<string, Value>([
        ["amount", 500n],
        ["numbers", Array.from({ length: 400 }, (_, i) => BigInt(i))],
      ]),
    },
  },
};

function explained(text: Partial<PolicyText>, given: Partial<PolicyQuestion> = {}): PolicyExplanation {
  const policy = compilePolicy({ effect: "EFFECT_ALLOW", consensus: "", condition: "", time: "", ...text });
  const [credential] = ann.credentials;
  assert.ok(credential);
  const question: PolicyQuestion = {
    policies: [{ policyId: "p", policy }],
    views: [view],
    proposerId: "a",
    approvers: [{ user: ann, credential }],
    members: () => [ann, bob],
    nowMs: Date.parse("2026-01-15T12:00:00Z"),
    ...given,
  };
  const [explanation] = explain(question, decidePolicies(question));
  assert.ok(explanation);
  return explanation;
}

test("the first clause that is false is named, with what the request had there", () => {
  const condition = "activity.action == 'SIGN' && eth.tx.to == '0xcd' && eth.tx.value < 1";
  assert.deepEqual(explained({ condition }), {
    policyId: "p",
    outcome: "OUTCOME_DENY_IMPLICIT",
    expression: "condition",
    clause: "eth.tx.to == '0xcd'",
    start: 29,
    end: 48,
    observed: { "eth.tx.to": "0xab" },
  });
});

test("a policy that decides is explained by its whole condition", () => {
  const condition = "eth.tx.to == '0xab' && eth.tx.contract_call_args['amount'] <= 500";
  for (const [effect, outcome] of [
    ["EFFECT_ALLOW", "OUTCOME_ALLOW"],
    ["EFFECT_DENY", "OUTCOME_DENY_EXPLICIT"],
  ] as const) {
    assert.deepEqual(explained({ effect, condition }), {
      policyId: "p",
      outcome,
      expression: "condition",
      clause: condition,
      start: 0,
      end: condition.length,
      observed: { "eth.tx.to": "0xab", "eth.tx.contract_call_args['amount']": "500" },
    });
  }
});

test("a policy without a condition is explained by its consensus", () => {
  const consensus = "approvers.any(u, u.id == 'a')";
  const { expression, clause, observed } = explained({ consensus });
  assert.deepEqual([expression, clause, observed], ["consensus", consensus, { approvers: "[a]" }]);
});

test("a policy that allows everything is named as one, where that can be told from its text", () => {
  const reason = "it allows every user every activity: neither its condition nor its consensus restricts anything";
  assert.deepEqual(explained({}), { policyId: "p", outcome: "OUTCOME_ALLOW", observed: {}, reason });
  const always = ["", "true", " (true) ", "!false", "true && 1 == 1", "1 in [1, 2]", "false || true", "'a' != 'b'"];
  const whoever = [
    "approvers.count() >= 1",
    "approvers.any(u, true)",
    "approvers.count() == 1",
    "credentials.count() > 0",
  ];
  for (const consensus of [...always, ...whoever]) {
    for (const condition of always) assert.equal(explained({ condition, consensus }).reason, reason, consensus);
  }
  const someTimes = explained({ time: "time.now > Timestamp('2020-01-01T00:00:00Z')" });
  assert.match(someTimes.reason ?? "", /^it allows every user every activity while its time holds: /);
  const restricted = [
    { condition: "activity.action == 'SIGN'" },
    { condition: "activity.action == 'SIGN' || true" },
    { consensus: "approvers.any(u, u.id == 'a')" },
    { consensus: "approvers.any(u, u.id != '')" },
    { effect: "EFFECT_DENY" as const },
  ];
  for (const text of restricted) assert.equal(explained(text).reason, undefined, JSON.stringify(text));
  assert.equal(explained({ consensus: "approvers.count() >= 2" }).outcome, "OUTCOME_REQUIRES_CONSENSUS");
});

test("a missing approval is named; who approved is shown by id, and nothing else of them", () => {
  const consensus = "approvers.any(u, u.id == 'a') && approvers.any(u, u.email == 'bob@example.org' || u.id == 'b')";
  const { outcome, expression, clause, observed } = explained({ consensus });
  assert.equal(outcome, "OUTCOME_REQUIRES_CONSENSUS");
  assert.equal(expression, "consensus");
  assert.equal(clause, "approvers.any(u, u.email == 'bob@example.org' || u.id == 'b')");
  assert.deepEqual(observed, { approvers: "[a]" });
  const refused = explained({ consensus: "approvers.any(u, u.id == 'b')" });
  assert.deepEqual([refused.outcome, refused.expression], ["OUTCOME_DENY_IMPLICIT", "consensus"]);
});

test("a policy out of its time says what time it was, also when only a span asks", () => {
  for (const time of ["time.now < Timestamp('2020-01-01T00:00:00Z')", "CronSpan('0 1 * * *', '1h', 'UTC')"]) {
    const { outcome, expression, clause, observed } = explained({ time });
    assert.deepEqual([outcome, expression, clause], ["OUTCOME_TIME_INACTIVE", "time", time]);
    assert.deepEqual(observed, { "time.now": "2026-01-15T12:00:00.000Z" });
  }
});

test("an error is named with its clause and in a sentence", () => {
  const condition = "eth.tx.value == 5 && eth.tx.contract_call_args['to'] == '0x00'";
  const { outcome, clause, observed, reason } = explained({ condition });
  assert.equal(outcome, "OUTCOME_ERROR");
  assert.equal(clause, "eth.tx.contract_call_args['to'] == '0x00'");
  assert.deepEqual(observed, {});
  assert.equal(reason, "`eth.tx.contract_call_args` has no entry `to`");
});

test("an error that denies says that it does, and one that does not does not", () => {
  const condition = "eth.tx.contract_call_args['to'] == '0x00'";
  assert.match(explained({ effect: "EFFECT_DENY", condition }).reason ?? "", /has no entry `to`; a policy that denies/);
  const elsewhere = explained({ effect: "EFFECT_DENY", condition, consensus: "approvers.any(u, u.id == 'b')" });
  assert.equal(elsewhere.reason, "`eth.tx.contract_call_args` has no entry `to`");
});

test("an error of the consensus is found behind a condition that is false", () => {
  const { expression, reason } = explained({ condition: "eth.tx.value == 6", consensus: "approvers[3].id == 'a'" });
  assert.equal(expression, "consensus");
  assert.match(reason ?? "", /past the end/);
});

test("an expression that ran out of steps as a whole is explained so, though each clause alone would have had enough", () => {
  const loop = "eth.tx.contract_call_args['numbers'].all(x, x in eth.tx.contract_call_args['numbers'][0..100])";
  const { outcome, clause, reason } = explained({ condition: `${loop} && !(${loop})` });
  assert.equal(outcome, "OUTCOME_ERROR");
  assert.ok(clause !== undefined);
  assert.match(reason ?? "", /more than 100000 steps/);
});

test("a value that is no bool is an error with a reason", () => {
  const { reason } = explained({ condition: "eth.tx.contract_call_args['amount']" });
  assert.equal(reason, "`eth.tx.contract_call_args['amount']` is an int, not a bool");
});

test("a slice of what only the request knows is no bool either, and is an error with a reason", () => {
  const { outcome, reason } = explained({ condition: "eth.tx.contract_call_args['numbers'][0..2]" });
  assert.equal(outcome, "OUTCOME_ERROR");
  assert.match(reason ?? "", /is a list, not a bool/);
});

test("a policy that is not applicable says what the activity does not have", () => {
  const { outcome, reason } = explained({ condition: "eth.tx.value == 1 && private_key.id == 'x'" });
  assert.equal(outcome, "OUTCOME_ERROR");
  assert.equal(reason, "not applicable: this activity has no `private_key`");
  const other = explained({ condition: "activity.params.user_id == 'x'" });
  assert.equal(other.reason, "not applicable: this activity has no `activity.params.user_id`");
});

test("long values are cut, and no more than sixteen are shown", () => {
  const long = explained({ condition: "eth.tx.data == '0x'" });
  assert.equal(long.observed["eth.tx.data"]?.length, 200);
  assert.ok(long.observed["eth.tx.data"]?.endsWith("…"));
  const many = Array.from({ length: 30 }, (_, i) => `eth.tx.data[${i}] == 'z'`).join(" || ");
  assert.equal(Object.keys(explained({ condition: `(${many})` }).observed).length, 16);
});

test("elements of lists are not shown, but what the request has beside them is", () => {
  const condition = "eth.tx.contract_call_args['numbers'][0..2].any(x, x == eth.tx.value)";
  const { observed } = explained({ condition });
  assert.deepEqual(observed, { "eth.tx.contract_call_args['numbers'][0..2]": "[0, 1]", "eth.tx.value": "5" });
});

test("of several things to sign the one that decided is explained", () => {
  const other = { ...view, eth: { tx: { ...view.eth?.tx, to: new EvmText("0xEE") } } };
  const { observed } = explained({ condition: "eth.tx.to == '0xab'" }, { views: [view, other] });
  assert.deepEqual(observed, { "eth.tx.to": "0xee" });
});

test("of a long clause the beginning is shown, and where all of it stands", () => {
  const condition = `activity.action == 'SIGN' && eth.tx.to in ['${"a".repeat(3_000)}']`;
  const { clause = "", start, end } = explained({ condition });
  assert.equal(clause.length, 400);
  assert.ok(clause.endsWith("a…") && condition.slice(start, end).startsWith(clause.slice(0, -1)));
  assert.equal(end, condition.length);
  const whole = explained({ condition: `eth.tx.value == 5 || eth.tx.to in ['${"a".repeat(3_000)}']` });
  assert.equal(whole.outcome, "OUTCOME_ALLOW");
  assert.equal(whole.clause?.length, 400);
});

test("what erred only because others had used up all steps says so", () => {
  const list = `[${Array.from({ length: 200 }, (_, i) => i)}]`;
  const dear = compilePolicy({
    ...{ effect: "EFFECT_ALLOW", consensus: "", time: "" },
    condition: `${list}.all(a, ${list}.all(b, a == b))`,
  });
  const cheap = compilePolicy({ effect: "EFFECT_DENY", consensus: "", condition: "eth.tx.value == 1", time: "" });
  const policies = [...Array.from({ length: 6 }, () => dear), cheap].map((policy, at) => ({
    policyId: `${at}`,
    policy,
  }));
  const [credential] = ann.credentials;
  assert.ok(credential);
  const question: PolicyQuestion = {
    ...{ policies, views: [view], proposerId: "a", approvers: [{ user: ann, credential }] },
    ...{ members: () => [ann], nowMs: 0 },
  };
  const last = explain(question, decidePolicies(question)).at(-1);
  assert.equal(last?.outcome, "OUTCOME_ERROR");
  assert.match(last?.reason ?? "", /all policies together .*500000.*a policy that denies does so too/);
});

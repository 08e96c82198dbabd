import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConditionFacts } from "../facts/facts.ts";
import { checkExpression } from "../language/check.ts";
import { EvaluationError, EvmText, type Value } from "../values/values.ts";
import type { ExpressionKind } from "../vocabulary/vocabulary.ts";
import { compile } from "./evaluate.ts";
import { maxSteps, Scope, voicesOf } from "./scope.ts";

const target = "0xAbCdEf0123456789aBcDeF0123456789AbCdEf01";

const args: readonly (readonly [string, Value])[] = [
  ["to", new EvmText(target)],
  ["amount", 500n],
  ["huge", 2n ** 256n],
  ["low", -(2n ** 127n) - 1n],
  ["negative", -3n],
  ["quoted", "1000"],
  ["flag", true],
  ["word", "hello"],
  ["long", "x".repeat(65_537)],
  ["edge", "x".repeat(65_536)],
  ["longHex", new EvmText(`0x${"0".repeat(65_535)}`)],
  [
    "calls",
    [
      [new EvmText(target), 7n],
      [new EvmText("0x00"), 8n],
    ],
  ],
  ["numbers", Array.from({ length: 400 }, (_, i) => BigInt(i))],
  ["mixed", [1n, "b", true]],
  ["withHuge", [1n, 2n ** 256n]],
  ["nested", new Map<string, Value>([["a", [new Map<string, Value>([["b", "c"]])]]])],
  ["0", 1n],
  ["__proto__", 2n],
];

const facts: ConditionFacts = {
  activity: {
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
    kind: "SIGN_TRANSACTION",
    resource: "PRIVATE_KEY",
    action: "SIGN",
  },
  params: { type: "TRANSACTION_TYPE_ETHEREUM" },
  paramNames: new Set(["type"]),
  wallet: { id: "w1", imported: false, exported: true, label: "Träger 🗝" },
  wallet_account: { address: new EvmText(target), path_indexes: [44n, 60n, 0n], path_hardened: [true, true, true] },
  eth: {
    tx: {
      from: new EvmText(target),
      to: new EvmText(target),
      data: new EvmText(`0xa9059cbb${"00".repeat(12)}${target.slice(2)}`),
      value: 0n,
      chain_id: 8453n,
      nonce: 1n,
      gas: 21_000n,
      gas_price: 7n,
      type: "TYPE_2",
      function_name: "transfer",
      contract_call_args: new Map(args),
    },
  },
};

const user = { userId: "u1", userName: "Ann", userTags: ["ops", "risk"], credentials: [] };
const credential = { id: "k1", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "02ab" };
const nowMs = Date.parse("2026-01-15T12:00:00Z");

function evaluate(source: string, kind: ExpressionKind = "condition") {
  return compile(checkExpression(kind, source))(new Scope(facts, voicesOf([{ user, credential }]), nowMs));
}

const a = "eth.tx.contract_call_args";

const values: readonly [source: string, result: boolean, kind?: ExpressionKind][] = [
  ["true", true],
  ["false", false],
  ["!false", true],
  ["!!true", true],
  ["true && true && false", false],
  ["false || false || true", true],
  ["false || true && false", false],
  ["(true == true) == true", true],
  ["activity.action == 'SIGN'", true],
  ["'SIGN' == activity.action", true],
  ["activity.action == 'sign'", false],
  ["activity.action != 'sign'", true],
  ["activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'", true],
  ["wallet.exported && !wallet.imported", true],
  ["wallet.exported == true", true],
  // Hexadecimal text of the EVM in any case; other text exactly.
  [`eth.tx.to == '${target.toLowerCase()}'`, true],
  [`eth.tx.to == '0x${target.slice(2).toUpperCase()}'`, true],
  ["eth.tx.to == ''", false],
  ["eth.tx.to == eth.tx.from && wallet_account.address == eth.tx.to", true],
  [`eth.tx.to in ['0x00', '${target.toLowerCase()}']`, true],
  ["eth.tx.to in ['0x00']", false],
  [`['0x00', '${target}'].contains(eth.tx.to)`, true],
  ["eth.tx.to in [eth.tx.from]", true],
  ["activity.action in []", false],
  ["activity.action in ['sign']", false],
  // Numbers, also in quotes.
  ["eth.tx.chain_id == 8453 && eth.tx.chain_id == '8453' && '8453' == eth.tx.chain_id", true],
  ["eth.tx.chain_id in ['1', '8453']", true],
  ["eth.tx.chain_id in [1, 8453]", true],
  ["eth.tx.chain_id <= '8453' && eth.tx.chain_id > 8452", true],
  ["eth.tx.value < 1 && eth.tx.value >= 0", true],
  [`${a}['amount'] <= 1000 && ${a}['amount'] == '500'`, true],
  [`${a}['quoted'] <= 1000 && ${a}['quoted'] > ${a}['amount'] && ${a}['quoted'] == 1000`, true],
  [`${a}['quoted'] < '9999'`, true],
  [`${a}['negative'] < 0`, true],
  [`eth.tx.value == ${2n ** 256n - 1n}`, false],
  // Access.
  ["eth.tx.data[0..10] == '0xA9059CBB'", true],
  [`eth.tx.data[34..74] == '${target.slice(2)}'`, true],
  ["eth.tx.data[1] == 'X'", true],
  ["eth.tx.data[74..74] == ''", true],
  ["activity.action[0] == 'S' && activity.action[1..4] == 'IGN'", true],
  ["wallet_account.path_indexes[1] == 60", true],
  ["wallet_account.path_indexes[1..3].count() == 2", true],
  ["wallet_account.path_indexes[3..3].count == 0", true],
  ["wallet_account.path_hardened.all(h, h)", true],
  [`${a}['calls'][0][1] == 7 && ${a}['calls'][0][0] == '${target}'`, true],
  [`${a}['nested']['a'][0]['b'] == 'c'`, true],
  [`${a}['0'] == 1 && ${a}['__proto__'] == 2`, true],
  [`${a}['flag']`, true],
  [`${a}['edge'] == 'x'`, false],
  // Lists.
  ["[].all(x, x == 1)", true],
  ["[].any(x, x == 1)", false],
  ["[1, 2, 3].any(x, x == 3)", true],
  ["[1, 2, 3].all(x, x < 3)", false],
  ["[1, 2, 3].filter(x, x > 1).count() == 2", true],
  ["[1, 2, 3].filter(x, x > 1)[0] == 2", true],
  [`${a}['calls'].all(c, c[1] in [7, 8])`, true],
  ["[[1, 2], [3]].any(x, x.any(y, y == 3))", true],
  // Inner names hide outer ones, and keywords, and give them back.
  ["[1, 2].all(x, [3].all(x, x == 3 && [4].all(y, y == 4 && x == 3)) && x < 3)", true],
  ["[1].all(eth, eth == 1) && eth.tx.nonce == 1", true],
  ["wallet.label == 'Träger 🗝'", true],
  // Who.
  ["approvers.any(u, u.id == 'u1' && u.alias == 'Ann' && u.email == '' && u.tags.contains('ops'))", true, "consensus"],
  ["approvers.count() == 1 && credentials.count() == 1", true, "consensus"],
  ["approvers[0].tags[1] == 'risk'", true, "consensus"],
  [
    "credentials.all(c, c.user_id == 'u1' && c.id == 'k1' && c.credential_id == '' && c.public_key == '02ab')",
    true,
    "consensus",
  ],
  ["credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')", false, "consensus"],
  // When.
  ["time.now >= Timestamp('2026-01-15T12:00:00Z') && time.now < Timestamp('2026-01-15T12:00:00.001Z')", true, "time"],
  ["time.now == Timestamp('2026-01-15T12:00:00Z')", true, "time"],
  ["CronSpan('0 9 * * 1-5', '8h', 'UTC')", true, "time"],
  ["!CronSpan('0 9 * * 1-5', '2h', 'UTC')", true, "time"],
];

for (const [source, result, kind] of values) {
  test(`${source} is ${result}`, () => assert.equal(evaluate(source, kind), result));
}

const errors: readonly [source: string, message: RegExp, part?: string][] = [
  ["eth.tx.max_fee_per_gas == 1", /`eth.tx.max_fee_per_gas` has no value/, "eth.tx.max_fee_per_gas"],
  ["private_key.id == 'a'", /has no value/],
  ["solana.tx.transfers.count() == 0", /has no value/],
  ["activity.params.user_id == 'a'", /`activity.params.user_id` has no value/],
  [`${a}['missing'] == 1`, /has no entry `missing`/, `${a}['missing']`],
  [`${a}['constructor'] == 1`, /has no entry/],
  [`${a}['word']['x'] == 1`, /is a string, not an int/],
  [`${a}['amount'][0] == 1`, /is an int, not a list, a string or a map/],
  [`${a}['nested'][0] == 1`, /is an int, not the name of an entry/],
  [`${a}['calls']['0'] == 1`, /is a string, not an int/],
  ["eth.tx.data[74] == 'a'", /past the end: `eth.tx.data` has 74/],
  [`eth.tx.data[${10n ** 30n}] == 'a'`, /past the end/],
  [`eth.tx.data[${a}['negative']] == 'a'`, /past the end/],
  ["eth.tx.data[0..75] == 'a'", /past the end/],
  [`eth.tx.data[0..${10n ** 30n}] == 'a'`, /past the end/],
  [`eth.tx.data[${a}['negative']..2] == 'a'`, /past the end/],
  ["eth.tx.data[5..4] == 'a'", /ends before it starts/],
  ["eth.tx.data[75..75] == 'a'", /past the end/],
  ["wallet_account.path_indexes[3] == 0", /past the end/],
  [`${a}['amount'] == 'abc'`, /compares an int with a string/],
  [`${a}['amount'] in ['1', 'abc']`, /compares an int with a string/],
  [`${a}['word'] == 1`, /compares a string with an int/],
  [`${a}['word'] < 1`, /compares a string with an int/],
  [`${a}['to'] == 1`, /compares a string with an int/],
  [`${a}['to'] < 1`, /compares a string with an int/],
  [`${a}['flag'] == 'true'`, /compares a bool with a string/],
  [`${a}['calls'] == ${a}['calls']`, /compares a list with a list/],
  [`${a}['nested'] == 'a'`, /compares a map with a string/],
  [`${a}['nested'] in ['a']`, /compares a map with a string/],
  [`1 in ${a}['mixed']`, /compares an int with a string/],
  [`1 in ${a}['amount']`, /is an int, not a list/],
  [`${a}['amount'].any(x, x == 1)`, /is an int, not a list/],
  [`${a}['word'].count() == 1`, /is a string, not a list/],
  [`${a}['mixed'].any(x, x)`, /is an int, not a bool/],
  [`${a}['amount']`, /is an int, not a bool/],
  [`${a}['amount'] && true`, /is an int, not a bool/],
  [`!${a}['amount']`, /is an int, not a bool/],
  // An error after the result is clear is an error still.
  [`true || ${a}['missing'] == 1`, /no entry/],
  [`false && ${a}['missing'] == 1`, /no entry/],
  [`[1, 2].any(x, x == 1 || ${a}['missing'] == x)`, /no entry/],
  [`${a}['mixed'].any(x, x == 1)`, /compares a string with an int/],
  [`wallet.id == 'w1' || private_key.id == 'b'`, /`private_key.id` has no value/],
  [`[${a}['missing'], 1].count() == 2`, /no entry/],
  [`eth.tx.value == ${a}['missing']`, /no entry/],
  [`${a}[${a}['missing']] == 1`, /no entry/],
  // The first one is reported.
  [`${a}['first'] == 1 && ${a}['second'] == 1`, /no entry `first`/],
  // Limits of values.
  [`${a}['huge'] > 1`, /outside of what can be compared/],
  [`${a}['low'] < 1`, /outside of what can be compared/],
  [`${a}['withHuge'].any(x, x == 1)`, /\[1\] is a number outside/],
  [`1 in ${a}['withHuge']`, /\[1\] is a number outside/],
  [`${a}['withHuge'][1] == 1`, /outside of what can be compared/],
  [`${a}['long'] == 'x'`, /longer than 65536 characters/],
  [`${a}['longHex'] == 'x'`, /longer than 65536 characters/],
];

for (const [source, message, part] of errors) {
  test(`${source} is an error that says why and where`, () => {
    const result = evaluate(source);
    assert.ok(result instanceof EvaluationError, String(result));
    assert.match(result.message, message);
    assert.ok(result.start >= 0 && result.end <= source.length && result.start < result.end);
    if (part !== undefined) assert.equal(source.slice(result.start, result.end), part);
  });
}

const exhausting: readonly string[] = [
  `${a}['numbers'].any(x, ${a}['numbers'].any(y, x == y))`,
  `${a}['numbers'].all(x, x in ${a}['numbers'])`,
  `${a}['numbers'].filter(x, ${a}['numbers'][0..400].count() == 400).count() == 400`,
  `[1,2,3,4,5].all(p, [1,2,3,4,5].all(q, [1,2,3,4,5].all(r, [1,2,3,4,5].all(s, [1,2,3,4,5].all(t, [1,2,3,4,5].all(u, [1,2].all(v, v > 0)))))))`,
  // Long texts cost more than short ones.
  `${a}['numbers'].all(x, ${a}['edge'] == ${a}['edge'] && ${a}['edge'] == ${a}['edge'])`,
  `${a}['numbers'].all(x, ${a}['edge'][0..65536] != '' && ${a}['edge'][0..65536] != '')`,
];

for (const source of exhausting) {
  test(`${source} runs out of steps and has no value`, () => {
    const result = evaluate(source);
    assert.ok(result instanceof EvaluationError, String(result));
    assert.match(result.message, new RegExp(`^the expression takes more than ${maxSteps} steps`));
  });
}

test("a step is a node, and an element of a loop is one more", () => {
  const count = (source: string): number => {
    const scope = new Scope(facts, voicesOf([]), nowMs);
    compile(checkExpression("condition", source))(scope);
    return maxSteps - scope.stepsLeft;
  };
  assert.equal(count("eth.tx.nonce == 1"), 5);
  assert.equal(count("[1, 2].any(x, x == 1)"), 4 + 2 * (1 + 3));
  assert.equal(count("1 in [1, 2]"), 5 + 2);
  assert.equal(count("eth.tx.to in ['a', 'b']"), 7 + 2);
  assert.equal(count(`${a}['numbers'][0..10].count() == 10`), 11 + 10);
  // A number that has to be read out of a text, and a text that is looked up, cost what that takes.
  assert.equal(count(`1 in [${a}['amount'], '2']`), 9 + 2 + 8);
  assert.equal(count(`${a}['quoted'] < 5`), 7 + 8);
  assert.equal(count(`${a}[${a}['edge']] == 1`), 11 + 256);
});

test("an evaluation leaves the next one all its steps", () => {
  const scope = new Scope(facts, voicesOf([]), nowMs);
  compile(checkExpression("condition", exhausting[0] ?? ""))(scope);
  assert.equal(compile(checkExpression("condition", "[1].any(x, x == 1)"))(scope), true);
});

test("what facts hold that no vocabulary declares is an error and never a crash", () => {
  const strange = [null, undefined, 5, Symbol("s"), () => true, Number.NaN] as unknown as Value[];
  for (const value of strange) {
    const odd = { ...facts, wallet: { id: value, label: [value], imported: value } } as ConditionFacts;
    const sources = [
      "wallet.id == 'a'",
      "wallet.imported",
      "!wallet.imported",
      "wallet.id[0] == 'a'",
      "wallet.id in ['a']",
    ];
    for (const source of sources) {
      const result = compile(checkExpression("condition", source))(new Scope(odd, voicesOf([]), nowMs));
      assert.ok(result instanceof EvaluationError, `${source} of ${String(value)}`);
    }
  }
});

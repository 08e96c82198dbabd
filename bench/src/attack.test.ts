import assert from "node:assert/strict";
import { test } from "node:test";
import { newTally } from "@keystead/e2e/attackers/attack.ts";
import { type AttackReport, type AttackRow, isLike, withFailures } from "./attack.ts";
import type { HonestResults } from "./attack_messages.ts";
import { attackText, missedAttacks } from "./attack_report.ts";

/** Everybody's requests took so long. */
function taking(ms: number): HonestResults {
  const result = () => ({ latencies: Array(100).fill(ms), failures: [] as string[] });
  return { member: result(), neighbour: result() };
}

type Told = Partial<AttackRow & { before: HonestResults; during: HonestResults }>;

/** An attack that went as it should. */
function row({ before = taking(1), during = taking(1.5), ...more }: Told): AttackRow {
  return {
    name: "slow headers",
    rounds: [{ before, during, stolen: 0 }],
    isCalmShared: false,
    tally: newTally(),
    held: { most: 1_000, mean: 990 },
    attackerCpu: 0,
    gatewayCpu: 0,
    mostMb: 0,
    ...more,
  };
}

const missed = (more: Told) => missedAttacks({ database: "sqlite", restMb: 0, rows: [row(more)], failed: [] });

test("an attack that honest clients hardly notice misses nothing", () => {
  assert.deepEqual(missed({}), []);
});

test("each way to miss the target is told", () => {
  const failing = (results: HonestResults) => {
    results.neighbour.failures.push("answered with 503");
    return results;
  };
  const late = { ...newTally(), answeredMs: Array(100).fill(150) };
  const prefix = "sqlite: slow headers: ";
  assert.deepEqual(missed({ during: { ...taking(1), neighbour: taking(3).neighbour } }), [
    `${prefix}p99 of the neighbour is 3.00 times what it was`,
  ]);
  assert.deepEqual(missed({ during: failing(taking(1)) }), [`${prefix}1 requests of the neighbour failed`]);
  assert.deepEqual(missed({ before: failing(taking(1)) }), [`${prefix}1 requests of the neighbour failed before it`]);
  assert.deepEqual(missed({ held: { most: 999, mean: 999 } }), [
    `${prefix}no more than 999 of 1000 connections were open`,
  ]);
  const headers = { name: "100,000 headers", tally: late } as const;
  assert.deepEqual(missed(headers), ["sqlite: 100,000 headers: p99 of refusals is 150 ms, not 100"]);
  assert.equal(missed({ ...headers, tally: newTally() }).length, 1, "nobody was refused");
});

test("only the member whose key is misused may be hurt, by that attack alone", () => {
  const slow = { ...taking(1), member: { latencies: [], failures: ["answered with 429"] } };
  assert.deepEqual(missed({ name: "a member's key", during: slow }), []);
  assert.equal(missed({ during: slow }).length, 2);
  assert.match(attackText({ database: "sqlite", restMb: 0, rows: [row({ during: slow })], failed: [] }), /Infinity/);
});

test("a round in which the machine stood still is not what is told", () => {
  const rounds = [1.5, 80, 1].map((ms) => ({ before: taking(1), during: taking(ms), stolen: 0 }));
  assert.deepEqual(missed({ rounds }), []);
  rounds[0] = { before: taking(1), during: taking(2.5), stolen: 0 };
  assert.match(missed({ rounds })[0] ?? "", /p99 of the member is 2.50 times/);
});

test("the report says which attack the neighbour noticed most, beside its own target", () => {
  const rows = [
    row({}),
    row({ name: "payloads flood", during: taking(3), tally: answered({ "200": 10 }) }),
    row({ name: "deep JSON", during: taking(1.4) }),
  ];
  const lines = attackText({ database: "sqlite", restMb: 0, rows, failed: [] }).split("\n");
  assert.deepEqual(lines.slice(-2), [
    "sqlite: under 3 attacks 0 requests of the neighbour failed  (target 0)",
    "sqlite: under slow headers the neighbour's p99 is 1.50 times what it was, and nowhere closer to its target  (target 2)",
  ]);
});

test("each attack is told with its own target, in the report's legend as where it is missed", () => {
  const during = taking(3);
  const rows = [row({ during }), row({ name: "payloads flood", during, tally: answered({ "200": 10 }) })];
  const report: AttackReport = { database: "sqlite", restMb: 0, rows, failed: [] };
  const told = attackText(report)
    .split("\n")
    .filter((line) => line.includes("ratio at most"));
  assert.equal(told.length, rows.length);
  assert.match(told[0] ?? "", /^slow headers: .* \(target: ratio at most 2\)$/);
  assert.match(told[1] ?? "", /^payloads flood: .* \(target: ratio at most 5\)$/);
  assert.deepEqual(
    missedAttacks(report).filter((line) => line.includes("neighbour")),
    ["sqlite: slow headers: p99 of the neighbour is 3.00 times what it was"],
  );
});

const answered = (answers: Record<string, number>, said = {}) => ({ ...newTally(), answers, said });

test("an attack whose requests are mostly refused is none, unless it says why", () => {
  const said = { "404 unable to find it": 60, "400 no": 1 };
  const attack = (name: AttackRow["name"], answers: Record<string, number>) =>
    missed({ name, tally: answered(answers, said) });
  assert.deepEqual(attack("costliest delete_users", { "200": 39, "404": 61, "429": 900 }), [
    "sqlite: costliest delete_users: 39 % of what it asks was done, so that it was another attack: 404 unable to find it",
  ]);
  assert.deepEqual(attack("costliest delete_users", { "429": 900 }), [
    "sqlite: costliest delete_users: nothing of what it asks was done in its time: 404 unable to find it",
  ]);
  assert.deepEqual(attack("costliest delete_users", { "200": 50, "404": 50, "503": 900 }), []);
  assert.deepEqual(attack("costliest verify_otp", { "400": 900 }), []);
  const text = attackText({ database: "sqlite", restMb: 0, rows: [row({ name: "costliest verify_otp" })], failed: [] });
  assert.match(text, /costliest verify_otp: .* \(refused: each needs a code that was mailed/);
});

test("a calm that several attacks share is marked, and its failures are told once", () => {
  const before = { ...taking(1), neighbour: { latencies: [1], failures: ["answered with 503"] } };
  assert.equal(missed({ before }).length, 1);
  assert.deepEqual(missed({ before, isCalmShared: true }), []);
  const text = attackText({ database: "sqlite", restMb: 0, rows: [row({ isCalmShared: true })], failed: [] });
  assert.match(text, /^slow headers \* /m);
});

test("how much of the machine others had is told", () => {
  const rounds = [0.01, 0.043].map((stolen) => ({ before: taking(1), during: taking(1), stolen }));
  assert.match(attackText({ database: "sqlite", restMb: 0, rows: [row({ rounds })], failed: [] }), / 4 % {2}1?\d/);
});

test("what failed in a round that does not count is told all the same", () => {
  const failed = { ...taking(1), neighbour: { latencies: [1], failures: ["answered with 503"] } };
  const { results } = withFailures({ best: { results: taking(1) }, dropped: [{ results: failed }] });
  assert.deepEqual([results.neighbour.failures, results.member.failures], [["answered with 503"], []]);
  assert.equal(results.neighbour.latencies.length, 100);
});

test("calm is over for who is slower or fails afterwards", () => {
  const failed = { ...taking(1), member: { latencies: [1], failures: ["answered with 429"] } };
  assert.equal(isLike(taking(1), taking(1.5)), true);
  assert.equal(isLike(taking(1), taking(1.6)), false);
  assert.equal(isLike(taking(1), failed), false);
  assert.equal(isLike(taking(1), taking(0.1)), true);
});

test("an attack that could not be measured is missed, and loses no other", () => {
  const slow = row({ during: taking(3) });
  const lines = missedAttacks({
    database: "sqlite",
    restMb: 0,
    rows: [slow],
    failed: ["costliest verify_otp: it ended"],
  });
  assert.equal(lines[0], "sqlite: costliest verify_otp: it ended");
  assert.ok(lines.some((line) => line.startsWith("sqlite: slow headers: p99")));
});

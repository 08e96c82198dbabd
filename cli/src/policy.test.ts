import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { findPolicyRows, readRowCases } from "../../core/test/policy_rows.ts";
import { type Run, runKeystead } from "../test/run_keystead.ts";

const folder = mkdtempSync(join(tmpdir(), "keystead-policy-"));
after(() => rmSync(folder, { recursive: true }));

function keystead(...args: string[]): Promise<Run> {
  return runKeystead(args, { cwd: folder });
}

function write(name: string, content: unknown): string {
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  return name;
}

const wallets = {
  policyName: "wallets",
  effect: "EFFECT_ALLOW",
  consensus: "true",
  condition: "activity.kind == 'CREATE_WALLET'",
};
const two = {
  policyName: "two people",
  effect: "EFFECT_ALLOW",
  consensus: "approvers.count() >= 2",
  condition: "activity.kind == 'CREATE_USERS'",
};
const alice = { userId: "11111111-1111-4111-8111-111111111111", userName: "Alice" };
const newWallet = {
  name: "a new wallet",
  activity: { type: "ACTIVITY_TYPE_CREATE_WALLET", parameters: {} },
  proposer: alice.userId,
  expect: "allow",
};
const newUser = {
  ...newWallet,
  name: "a new user",
  activity: { type: "ACTIVITY_TYPE_CREATE_USERS_V4", parameters: {} },
};

describe("policy check", { concurrency: 2 }, () => {
  test("files without errors pass, as a list or as an object", async () => {
    const run = await keystead("policy", "check", write("a.json", [wallets]), write("b.json", { policies: [two] }));
    assert.deepEqual(run, { code: 0, stdout: "2 policies, 0 errors, 0 warnings\n", stderr: "" });
  });

  test("every error is said with file, policy, expression and place, and a caret points at it", async () => {
    const wrong = [
      wallets,
      { ...wallets, policyName: "misspelt", condition: "activity.knd == 'CREATE_WALLET'" },
      {
        ...two,
        policyName: "two lines",
        consensus: "approvers.count() >= 2 &&\n  approvers.any(u, u.id = 'x')",
        time: "now",
      },
    ];
    const { code, stdout } = await keystead("policy", "check", write("wrong.json", wrong));
    assert.equal(code, 1);
    const lines = stdout.split("\n");
    assert.match(lines[0] ?? "", /^wrong\.json: "misspelt": condition 1:10: .*`knd`.*`kind`/);
    assert.equal(lines[1], "  activity.knd == 'CREATE_WALLET'");
    assert.equal(lines[2], "           ^");
    assert.match(lines[3] ?? "", /^wrong\.json: "two lines": consensus 2:25: [^@]*$/);
    assert.equal(lines[4], "    approvers.any(u, u.id = 'x')");
    assert.equal(lines[5], `${" ".repeat(26)}^`);
    assert.match(lines[6] ?? "", /^wrong\.json: "two lines": time 1:1: /);
    assert.equal(lines.at(-2), "3 policies, 3 errors, fix the errors to see warnings");
    assert.ok(!stdout.includes("at position"));
  });

  test("what is probably not meant is a warning, and an error where one is strict", async () => {
    const name = write("doubtful.json", [{ ...wallets, condition: "activity.kind == 'CREATE_WALET'" }]);
    const { code, stdout } = await keystead("policy", "check", name);
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `doubtful.json: "wallets": condition 1:18: warning: no activity has the kind \`CREATE_WALET\`; did you mean \`CREATE_WALLET\`?
  activity.kind == 'CREATE_WALET'
                   ^
1 policy, 0 errors, 1 warning
`,
    );
    assert.deepEqual(await keystead("policy", "check", "--strict", name), { code: 1, stdout, stderr: "" });
  });

  test("an entry that is no policy hides no error of the others", async () => {
    const misspelt = { ...wallets, policyName: "misspelt", condition: "activity.knd == 'X'" };
    const entries = [{ ...wallets, efect: "EFFECT_ALLOW" }, two, misspelt, two, "text"];
    for (const [way, content] of Object.entries({ "": entries, policies: { policies: entries } })) {
      const name = write("several.json", content);
      const { code, stdout } = await keystead("policy", "check", name);
      assert.equal(code, 1);
      const found = stdout.split("\n").filter((line) => line.startsWith(name));
      assert.equal(found.length, 4, stdout);
      assert.ok(stdout.startsWith(`${name}: ${way}[0].efect: unknown key`), stdout);
      assert.equal(found[1], `${name}: ${way}[3].policyName: \`two people\` a second time`);
      assert.equal(found[2], `${name}: ${way}[4]: text where an object belongs`);
      assert.match(found[3] ?? "", /"misspelt": condition 1:10: /);
      assert.match(stdout, /\n5 policies, 4 errors, fix the errors to see warnings\n$/);
    }
    const fine = write("fine.json", [wallets]);
    const { stdout } = await keystead("policy", "check", "several.json", fine);
    assert.match(stdout, /\n6 policies, 4 errors, 0 warnings, fix the errors to see warnings\n$/);
  });

  test("a file that holds something else is refused with the way to it", async () => {
    const refusals: [string, RegExp][] = [
      [
        write("some_cases.json", { users: [], policies: [wallets], cases: [] }),
        /some_cases\.json is a file of test cases, not of policies: run policy test some_cases\.json/,
      ],
      [
        write("key.json", '[{"policyName":"a","effect":"EFFECT_DENY","effect":"EFFECT_ALLOW"}]'),
        /key\.json: duplicate key/,
      ],
      [write("broken.json", "[{]"), /broken\.json: not JSON: /],
      ["nowhere.json", /there is no file nowhere\.json/],
    ];
    for (const [name, message] of refusals) {
      const { code, stdout, stderr } = await keystead("policy", "check", name);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, message);
    }
  });

  test("a name cannot move the cursor of the terminal", async () => {
    const name = write("escape.json", [{ ...wallets, policyName: "\u001b[2Jnice\u202e", condition: "\u0007" }]);
    const { code, stdout } = await keystead("policy", "check", name);
    assert.equal(code, 1);
    assert.ok(stdout.includes('"\\u{1b}[2Jnice\\u{202e}"'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there.
    assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});

describe("policy test", { concurrency: 2 }, () => {
  const whole = { users: [alice], policies: [wallets, two] };

  test("cases that are decided as expected pass", async () => {
    const name = write("cases.json", { ...whole, cases: [newWallet, { ...newUser, expect: "deny" }] });
    const run = await keystead("policy", "test", name, name);
    assert.deepEqual(run, { code: 0, stdout: "4 cases, 4 passed, 0 failed\n", stderr: "" });
  });

  test("a case that is not says what was expected, what came, and why, policy by policy", async () => {
    const cases = [newWallet, newUser, { ...newWallet, outcomes: { "two people": "OUTCOME_ALLOW" } }];
    const { code, stdout } = await keystead("policy", "test", write("failing.json", { ...whole, cases }));
    assert.equal(code, 1);
    assert.match(stdout, /^failing\.json: a new user\n {2}- allow\n {2}\+ deny\n/);
    assert.match(
      stdout,
      /\n {4}no policy allows it; nearest: "two people"\n {6}ALLOW "two people" does not apply \(DENY_IMPLICIT\)\n {8}consensus is not met: approvers\.count\(\) >= 2\n(.*\n)* {6}ALLOW "wallets" does not apply \(DENY_IMPLICIT\)\n {8}condition is not met: activity\.kind == 'CREATE_WALLET'\n {10}activity\.kind = CREATE_USERS\n/,
    );
    assert.match(stdout, /\n {2}- "two people" OUTCOME_ALLOW\n {2}\+ "two people" OUTCOME_DENY_IMPLICIT\n/);
    assert.match(stdout, /\n3 cases, 1 passed, 2 failed\n$/);
  });

  test("a case that cannot be run fails, whatever it expects", async () => {
    const signing = { type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", parameters: { signWith: "nobody" } };
    const cases = [{ ...newWallet, activity: signing, expect: "deny" }];
    const { code, stdout } = await keystead("policy", "test", write("unusable.json", { ...whole, cases }));
    assert.equal(code, 1);
    assert.match(
      stdout,
      /\n {2}- deny\n {2}\+ cannot be run: none of the file's keys is `nobody`\n1 case, 0 passed, 1 failed\n$/,
    );
  });

  test("policies can be those of a policy file beside the cases", async () => {
    write("policies.json", [wallets]);
    const name = write("beside.json", { users: [alice], policies: "policies.json", cases: [newWallet] });
    assert.equal((await keystead("policy", "test", name)).stdout, "1 case, 1 passed, 0 failed\n");
    const lost = write("lost.json", { users: [alice], policies: "elsewhere.json", cases: [newWallet] });
    assert.match((await keystead("policy", "test", lost)).stderr, /there is no file elsewhere\.json/);
  });

  test("a file that is not a case file is refused with the way to what is wrong", async () => {
    for (const policies of [[wallets], { policies: [wallets] }]) {
      const { code, stderr } = await keystead("policy", "test", write("only_policies.json", policies));
      assert.equal(code, 1);
      assert.match(stderr, /is a file of policies, not of test cases: .*run policy check only_policies\.json\n$/);
    }
    const cases = [newWallet, { ...newWallet, activity: { ...newWallet.activity, parameter: {} } }];
    const { code, stderr } = await keystead("policy", "test", write("misshapen.json", { ...whole, cases }));
    assert.equal(code, 1);
    assert.match(stderr, /^keystead: misshapen\.json: cases\[1\]\.activity\.parameter: unknown key/);
  });
});

test("all cases of published policies pass on the command line as well", async (t) => {
  const rows = findPolicyRows(t);
  if (rows === undefined) return;
  const files = readRowCases(rows).map(({ name, file }) => write(`rows_${name}`, file));
  const { code, stdout } = await keystead("policy", "test", ...files);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^(\d{3}) cases, \1 passed, 0 failed\n$/);
  t.diagnostic(stdout.trim());
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCases, parsePolicies } from "./case_file.ts";
import { runCase } from "./cases.ts";

const alice = { userId: "11111111-1111-4111-8111-111111111111", userName: "Alice" };
const bob = { userId: "22222222-2222-4222-8222-222222222222", userName: "Bob" };
const createWallet = { type: "ACTIVITY_TYPE_CREATE_WALLET", parameters: {} };
const policy = { policyName: "wallets", effect: "EFFECT_ALLOW", condition: "activity.kind == 'CREATE_WALLET'" };
const one = { name: "a new wallet", activity: createWallet, proposer: alice.userId, expect: "allow" };
const file = { users: [alice, bob], policies: [policy], cases: [one] };

/** The only case of a file, run. */
function run(changes: object, whole: object = file) {
  const parsed = parseCases({ ...whole, cases: [{ ...one, ...changes }] });
  const [only = assert.fail()] = parsed.cases;
  return runCase(parsed, only);
}

test("a case passes when its verdict and the outcomes it names are as expected, and only then", () => {
  assert.deepEqual(
    [run({}), run({ outcomes: { wallets: "OUTCOME_ALLOW" } }), run({ expect: "deny" })].map(({ passed }) => passed),
    [true, true, false],
  );
  const wrongOutcome = run({ outcomes: { wallets: "OUTCOME_ERROR" } });
  assert.equal(wrongOutcome.passed, false);
  assert.equal(wrongOutcome.got, "allow");
  assert.deepEqual(wrongOutcome.evaluations, [
    { policyName: "wallets", outcome: "OUTCOME_ALLOW", expected: "OUTCOME_ERROR" },
  ]);
});

test("what no policy allows is denied, and each policy says why", () => {
  const result = run({ activity: { type: "ACTIVITY_TYPE_CREATE_USERS_V4", parameters: {} }, expect: "deny" });
  assert.ok(result.passed);
  const [explanation = assert.fail()] = result.explanations;
  assert.equal(explanation.policyName, "wallets");
  assert.equal(explanation.clause, policy.condition);
  assert.equal(explanation.observed["activity.kind"], "CREATE_USERS");
});

test("the proposer is the one approver unless the case names them", () => {
  const two = { policies: [{ ...policy, consensus: "approvers.count() >= 2" }] };
  assert.equal(run({ ...two }).got, "consensus");
  assert.equal(run({ ...two, approvers: [alice.userId, bob.userId] }).got, "allow");
});

test("a case can say which credential an approver stamps with", () => {
  const keys = ["a", "b"].map((id) => ({ apiKeyId: id, publicKey: `02${id}`, type: "CREDENTIAL_TYPE_API_KEY_P256" }));
  const passkey = { authenticatorId: "c", credentialId: "Y3JlZA", publicKey: "02cc" };
  const whole = { ...file, users: [{ ...alice, apiKeys: keys, authenticators: [passkey] }] };
  const withConsensus = (consensus: string) => ({ policies: [{ ...policy, consensus }] });
  const first = withConsensus("credentials.any(c, c.id == 'a')");
  assert.equal(run(first, whole).got, "allow");
  const other = { approvers: [{ userId: alice.userId, credentialId: "b" }] };
  assert.equal(run({ ...first, ...other }, whole).got, "deny");
  const byPasskey = withConsensus("credentials.any(c, c.credential_id == 'Y3JlZA')");
  assert.equal(run({ ...byPasskey, approvers: [{ userId: alice.userId, credentialId: "c" }] }, whole).got, "allow");
});

test("what belongs to the root quorum is denied, whatever policies say", () => {
  const everything = { policies: [{ policyName: "everything", effect: "EFFECT_ALLOW" }] };
  const activity = { type: "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", parameters: {} };
  assert.equal(run({ ...everything, activity }).got, "deny");
});

test("a case that cannot be run does not pass, even where it expects a refusal", () => {
  const signing = (parameters: object) => ({
    activity: { type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", parameters },
    expect: "deny",
  });
  const key = { privateKeyId: "k", privateKeyName: "Hot", curve: "CURVE_SECP256K1", publicKey: "02aa" };
  const whole = { ...file, keys: [key] };
  const unusable: [object, RegExp][] = [
    [signing({}), /no `signWith`/],
    [signing({ signWith: "nobody" }), /none of the file's keys is `nobody`/],
    [signing({ signWith: "k", unsignedTransaction: "zz", type: "TRANSACTION_TYPE_ETHEREUM" }), /hexadecimal/],
    [signing({ signWith: "k", unsignedTransaction: "00", type: "TRANSACTION_TYPE_MOON" }), /transaction type/],
    [
      { policies: [{ ...policy, condition: "activity.knd == 'X'" }], expect: "deny" },
      /invalid policy condition: .*knd/,
    ],
    [{ activity: { type: "ACTIVITY_TYPE_DELETE_WALLETS", parameters: {} }, expect: "deny" }, /no list `walletIds`/],
  ];
  for (const [changes, message] of unusable) {
    const { passed, got, error } = run(changes, whole);
    assert.deepEqual([passed, got], [false, undefined]);
    assert.match(error ?? "", message);
  }
});

test("a file that is not exactly a case file is refused with the way to what is wrong", () => {
  const caseWith = (changes: object) => ({ ...file, cases: [one, { ...one, ...changes }] });
  const refusals: [unknown, RegExp][] = [
    [{ ...file, policy: [] }, /^policy: unknown key; here can have users, keys, /],
    [caseWith({ expekt: "deny" }), /^cases\[1\]\.expekt: unknown key/],
    [caseWith({ expect: "maybe" }), /^cases\[1\]\.expect: `maybe` where one of allow, deny, consensus belongs/],
    [
      caseWith({ activity: { type: "ACTIVITY_TYPE_SIGN_TRANSACTON_V2", parameters: {} } }),
      /^cases\[1\]\.activity\.type: /,
    ],
    [
      caseWith({ activity: { type: "CREATE_WALLET", parameters: {} } }),
      /^cases\[1\]\.activity\.type: there is no activity/,
    ],
    [caseWith({ activity: { type: createWallet.type } }), /^cases\[1\]\.activity\.parameters: missing/],
    [caseWith({ proposer: "Carol" }), /^cases\[1\]\.proposer: no user has the id `Carol`/],
    [caseWith({ approvers: [alice.userId, "Carol"] }), /^cases\[1\]\.approvers\[1\]: no user/],
    [
      caseWith({ approvers: [{ userId: alice.userId, credentialId: "x" }] }),
      /approvers\[0\]: this user has no credential/,
    ],
    [caseWith({ approvers: [alice.userId, alice.userId] }), /^cases\[1\]\.approvers\[1\]\.userId: .* a second time/],
    [caseWith({ outcomes: { wallet: "OUTCOME_ALLOW" } }), /^cases\[1\]\.outcomes: no policy is called `wallet`/],
    [caseWith({ now: "yesterday" }), /^cases\[1\]\.now: /],
    [
      caseWith({ policies: [{ ...policy, time: "time.now > Timestamp('2026-01-01T00:00:00Z')" }] }),
      /^cases\[1\]\.now: missing/,
    ],
    [{ ...file, users: [alice, alice] }, /^users\[1\]\.userId: .* a second time/],
    [{ ...file, policies: [policy, policy] }, /^policies\[1\]\.policyName: `wallets` a second time/],
    [{ users: [alice], cases: [one] }, /^cases\[0\]\.policies: missing here and in the file/],
    [{ ...file, keys: [{ privateKeyId: "k" }] }, /^keys\[0\]\.privateKeyName: missing/],
    [{ ...file, keys: [{ walletId: "w" }] }, /^keys\[0\]\.walletName: missing/],
  ];
  for (const [json, message] of refusals) assert.throws(() => parseCases(json), { code: "invalid_argument", message });
});

test("a policy file is a list of policies, or an object that holds one", () => {
  assert.deepEqual(parsePolicies([policy]), [policy]);
  assert.deepEqual(parsePolicies({ policies: [policy] }), [policy]);
  assert.throws(() => parsePolicies([policy, policy]), { message: "[1].policyName: `wallets` a second time" });
  assert.throws(() => parsePolicies({ policies: [{ ...policy, effect: "ALLOW" }] }), {
    message: /^policies\[0\]\.effect: /,
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertCost } from "../../../test/cost.ts";
import type { Approver, ConditionFacts, CredentialFacts, UserFacts } from "../facts/facts.ts";
import { EvmText, type Value } from "../values/values.ts";
import { compilePolicy, type PolicyText } from "./compiled_policy.ts";
import { decidePolicies, eligibleAmong, isEligible, type Outcome, type PolicyQuestion } from "./decide.ts";
import type { Effect } from "./effect.ts";

const apiKey = { type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "02" };
const passkey = { type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR", publicKey: "03", credentialId: "raw" };

function user(userId: string, userTags: string[] = [], kinds: Omit<CredentialFacts, "id">[] = [apiKey]): UserFacts {
  const credentials = kinds.map((kind, at) => ({ id: `${userId}-${at}`, ...kind }));
  return { userId, userName: `user ${userId}`, userTags, credentials };
}

const [ann, bob, cat] = [user("a", ["ops"]), user("b", ["ops", "risk"]), user("c", ["sales"])];
const dan = user("d", [], [apiKey, passkey]);

function approval(by: UserFacts, at = 0): Approver {
  const credential = by.credentials[at];
  assert.ok(credential);
  return { user: by, credential };
}

const signing = {
  type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
  kind: "SIGN_TRANSACTION",
  resource: "PRIVATE_KEY",
  action: "SIGN",
};

function ethereum(to: string, args: [string, Value][] = []): ConditionFacts {
  return {
    activity: signing,
    params: { type: "TRANSACTION_TYPE_ETHEREUM" },
    paramNames: new Set(["type"]),
    wallet: { id: "w", imported: false, exported: false, label: "Treasury" },
    wallet_account: { address: new EvmText("0xaa"), path_indexes: [], path_hardened: [] },
    eth: { tx: { to: new EvmText(to), value: 1n, contract_call_args: new Map(args) } },
  };
}

const createUsers: ConditionFacts = {
  activity: { type: "ACTIVITY_TYPE_CREATE_USERS_V3", kind: "CREATE_USERS", resource: "USER", action: "CREATE" },
  params: {},
  paramNames: new Set(),
};

function policy(effect: Effect, condition = "", consensus = "", time = ""): PolicyText {
  return { effect, consensus, condition, time };
}
const allow = policy.bind(undefined, "EFFECT_ALLOW");
const deny = policy.bind(undefined, "EFFECT_DENY");

function question(policies: readonly PolicyText[], given: Partial<PolicyQuestion> = {}): PolicyQuestion {
  const approvers = given.approvers ?? [approval(ann)];
  return {
    policies: policies.map((text, at) => ({ policyId: `p${at}`, policy: compilePolicy(text) })),
    views: [ethereum("0x01")],
    proposerId: approvers[0]?.user.userId ?? "a",
    approvers,
    members: () => [ann, bob, cat, dan],
    nowMs: Date.parse("2026-01-15T12:00:00Z"),
    ...given,
  };
}

const toOne = "eth.tx.to == '0x01'";
const toTwo = "eth.tx.to == '0x02'";
const missing = "eth.tx.contract_call_args['amount'] > 5";
const night = "time.now < Timestamp('2020-01-01T00:00:00Z')";
const isAnn = "approvers.any(u, u.id == 'a')";
const isBob = "approvers.any(u, u.id == 'b')";
const erringConsensus = "approvers[7].id == 'a'";

/** The table of SPEC.md, row by row. */
const outcomes: readonly [name: string, text: PolicyText, outcome: Outcome, denies?: boolean][] = [
  ["a policy without expressions allows", allow(), "OUTCOME_ALLOW"],
  ["a denial without expressions denies", deny(), "OUTCOME_DENY_EXPLICIT", true],
  ["an allowance whose condition holds allows", allow(toOne, isAnn), "OUTCOME_ALLOW"],
  ["an allowance whose condition is false does not", allow(toTwo, isAnn), "OUTCOME_DENY_IMPLICIT"],
  ["a denial whose condition is false leaves it alone", deny(toTwo), "OUTCOME_DENY_IMPLICIT"],
  ["a denial whose consensus is false leaves it alone", deny(toOne, isBob), "OUTCOME_DENY_IMPLICIT"],
  ["a denial never waits for consensus", deny(toOne, `${isAnn} && ${isBob}`), "OUTCOME_DENY_IMPLICIT"],
  ["an allowance out of its time is inactive", allow(toOne, isAnn, night), "OUTCOME_TIME_INACTIVE"],
  ["a denial out of its time is inactive", deny(toOne, "", night), "OUTCOME_TIME_INACTIVE"],
  ["out of time and for others is for others first", allow(toOne, isBob, night), "OUTCOME_DENY_IMPLICIT"],
  ["a false condition comes before an inactive time", allow(toTwo, isAnn, night), "OUTCOME_DENY_IMPLICIT"],
  ["two named users are needed: it waits", allow(toOne, `${isAnn} && ${isBob}`), "OUTCOME_REQUIRES_CONSENSUS"],
  ["it does not wait out of time", allow(toOne, `${isAnn} && ${isBob}`, night), "OUTCOME_DENY_IMPLICIT"],
  ["it does not wait if the condition is false", allow(toTwo, `${isAnn} && ${isBob}`), "OUTCOME_DENY_IMPLICIT"],
  ["it does not wait for others alone", allow(toOne, isBob), "OUTCOME_DENY_IMPLICIT"],
  ["an allowance that errs does not allow", allow(missing, isAnn), "OUTCOME_ERROR"],
  ["an error comes before a false condition", allow(`${toTwo} && ${missing}`), "OUTCOME_ERROR"],
  ["an error of the consensus comes before a false condition", allow(toTwo, erringConsensus), "OUTCOME_ERROR"],
  ["a denial whose condition errs denies", deny(missing), "OUTCOME_ERROR", true],
  ["a denial whose consensus errs denies", deny(toOne, erringConsensus), "OUTCOME_ERROR", true],
  ["a denial that errs but is for others does not deny", deny(missing, isBob), "OUTCOME_ERROR"],
  ["a denial that errs but is out of time does not deny", deny(missing, "", night), "OUTCOME_ERROR"],
  [
    "a denial whose consensus errs but whose condition is false does not",
    deny(toTwo, erringConsensus),
    "OUTCOME_ERROR",
  ],
  ["a denial whose condition errs and holds elsewhere denies", deny(`${toOne} || ${missing}`), "OUTCOME_ERROR", true],
  ["a denial that errs inside a false condition denies", deny(`${toTwo} && ${missing}`), "OUTCOME_ERROR", true],
  ["a denial of what is no bool denies", deny("eth.tx.contract_call_args['a']"), "OUTCOME_ERROR", true],
  // Not applicable: about something that this activity does not have.
  ["an allowance about another chain is not applicable", allow("solana.tx.transfers.count() == 0"), "OUTCOME_ERROR"],
  ["a denial about another chain is not applicable", deny("solana.tx.transfers.count() >= 0"), "OUTCOME_ERROR"],
  ["a denial about a private key is not applicable to a wallet", deny("private_key.id != 'x'"), "OUTCOME_ERROR"],
  ["a denial about typed data is not applicable", deny("eth.eip_712.primary_type != 'x'"), "OUTCOME_ERROR"],
  [
    "a denial about a parameter of another kind is not applicable",
    deny("activity.params.user_id != 'x'"),
    "OUTCOME_ERROR",
  ],
  ["also if another part of it holds", deny("activity.action == 'SIGN' || private_key.id == 'x'"), "OUTCOME_ERROR"],
  ["a denial about a wallet applies to a wallet", deny("wallet.label == 'Treasury'"), "OUTCOME_DENY_EXPLICIT", true],
];

for (const [name, text, outcome, denies = false] of outcomes) {
  test(name, () => {
    const { verdict, evaluations } = decidePolicies(question([text]));
    assert.deepEqual(evaluations, [{ policyId: "p0", outcome, denies }]);
    const expected = { OUTCOME_ALLOW: "allow", OUTCOME_REQUIRES_CONSENSUS: "consensus" }[outcome as string] ?? "none";
    assert.equal(verdict, denies ? "deny" : expected);
  });
}

test("a parameter of this kind that was not sent is an error, not a reason to look away", () => {
  const view = { ...ethereum("0x01"), params: {}, paramNames: new Set(["type"]) };
  const { verdict, evaluations } = decidePolicies(question([deny("activity.params.type == 'x'")], { views: [view] }));
  assert.deepEqual([verdict, evaluations[0]?.outcome], ["deny", "OUTCOME_ERROR"]);
});

test("a denial on transactions leaves other activities alone", () => {
  const { verdict } = decidePolicies(
    question([deny(toOne), allow("activity.resource == 'USER'")], { views: [createUsers] }),
  );
  assert.equal(verdict, "allow");
});

test("a denial beats an allowance, wherever it stands", () => {
  assert.equal(decidePolicies(question([allow(), deny(toOne)])).verdict, "deny");
  assert.equal(decidePolicies(question([deny(toOne), allow()])).verdict, "deny");
  assert.equal(decidePolicies(question([allow(), deny(missing)])).verdict, "deny");
});

test("an allowance beats a policy that waits, wherever it stands", () => {
  const waits = allow(toOne, `${isAnn} && ${isBob}`);
  assert.equal(decidePolicies(question([waits, allow(toOne)])).verdict, "allow");
  assert.equal(decidePolicies(question([allow(toOne), waits])).verdict, "allow");
});

test("nothing is allowed without a policy that allows it", () => {
  assert.deepEqual(decidePolicies(question([])), { verdict: "none", evaluations: [], view: 0 });
  assert.equal(decidePolicies(question([allow(toTwo), allow(missing), deny(toTwo)])).verdict, "none");
});

test("an activity that shows nothing is not allowed", () => {
  assert.equal(decidePolicies(question([allow()], { views: [] })).verdict, "none");
});

test("every policy is asked, and the outcomes keep their order", () => {
  const { evaluations } = decidePolicies(question([allow(toTwo), deny(toOne), allow(), allow(missing)]));
  assert.deepEqual(
    evaluations.map(({ policyId, outcome }) => [policyId, outcome]),
    [
      ["p0", "OUTCOME_DENY_IMPLICIT"],
      ["p1", "OUTCOME_DENY_EXPLICIT"],
      ["p2", "OUTCOME_ALLOW"],
      ["p3", "OUTCOME_ERROR"],
    ],
  );
});

test("of several things to sign all must pass, and the worst one decides", () => {
  const [one, two, three] = [ethereum("0x01"), ethereum("0x02"), ethereum("0x03")];
  const waits = allow("eth.tx.to == '0x03'", `${isAnn} && ${isBob}`);
  const policies = [allow(toOne), waits];
  const decide = (more: readonly PolicyText[], views: readonly ConditionFacts[]) => {
    const { verdict, view } = decidePolicies(question([...policies, ...more], { views }));
    return [verdict, view];
  };
  assert.deepEqual(decide([], [one, one]), ["allow", 0]);
  assert.deepEqual(decide([], [one, two]), ["none", 1]);
  assert.deepEqual(decide([], [one, three]), ["consensus", 1]);
  assert.deepEqual(decide([], [three, two, one]), ["none", 1]);
  assert.deepEqual(decide([deny(toTwo)], [three, one, two]), ["deny", 2]);
  assert.deepEqual(decide([deny(toOne)], [two, one]), ["deny", 1]);
});

test("members are not listed unless consensus is in question", () => {
  const members = (): never => assert.fail("listed");
  for (const text of [
    allow(),
    allow(toTwo, isBob),
    deny(toOne, isBob),
    allow(toOne, isBob, night),
    allow(missing, isBob),
  ]) {
    decidePolicies(question([text], { members }));
  }
});

test("members are listed once, however many policies wait", () => {
  let listed = 0;
  const members = () => {
    listed += 1;
    return [ann, bob, cat];
  };
  const waits = allow(toOne, `${isAnn} && ${isBob}`);
  decidePolicies(question([waits, waits, waits], { members, views: [ethereum("0x01"), ethereum("0x01")] }));
  assert.equal(listed, 1);
});

/** Who may propose and wait, and whose approval then counts. */
const opsTwice = "approvers.filter(u, u.tags.contains('ops')).count() >= 2";
const consensuses: readonly [consensus: string, waiting: string, eligible: string][] = [
  [`${isAnn} && ${isBob}`, "ab", "ab"],
  [opsTwice, "ab", "ab"],
  ["approvers.count() >= 2", "abcd", "abcd"],
  ["credentials.count() >= 2", "abcd", "abcd"],
  // Nobody but the team, and two of it: those who are only counted do not spoil it.
  ["approvers.all(u, u.tags.contains('ops')) && approvers.count() >= 2", "ab", "abcd"],
  ["approvers.all(u, u.id in ['a', 'd']) && approvers.count() == 2", "ad", "abcd"],
  // Not enough people.
  ["approvers.count() >= 5", "", ""],
  ["approvers.filter(u, u.tags.contains('sales')).count() >= 2", "", ""],
  [`${isAnn} && approvers.any(u, u.id == 'nobody')`, "", ""],
  // Under `||` and `!`.
  [`(${isAnn} && ${isBob}) || (approvers.any(u, u.id == 'c') && approvers.any(u, u.id == 'd'))`, "abcd", "abcd"],
  [`!(!${isAnn} || !${isBob})`, "ab", "ab"],
  [`!approvers.any(u, u.id == 'c') && ${opsTwice}`, "ab", "abc"],
  // Credentials.
  [
    "credentials.any(k, k.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR') && approvers.any(u, u.id == 'a')",
    "a",
    "ad",
  ],
  ["credentials.filter(k, k.user_id in ['a', 'b']).count() == 2", "ab", "ab"],
  ["approvers.any(u, credentials.any(k, k.user_id == u.id && k.id == 'b-0')) && approvers.count() > 1", "abcd", "abcd"],
  // By index: with the user alone in the list.
  [`approvers[0].id == 'a' && ${isBob}`, "a", "ab"],
  ["approvers[0].tags.any(t, t == 'ops') && approvers.any(u, u.tags.contains('sales'))", "ab", "abc"],
  ["approvers[0..1].any(u, u.id == 'a') && approvers.any(u, u.id == 'b')", "a", "ab"],
  // A name that hides `approvers` is not about approvers.
  ["approvers.any(approvers, approvers.tags.count() > 5) && approvers.any(u, u.id == 'a')", "", ""],
  ["approvers.any(u, true) && approvers.filter(u, true).count() > 1", "abcd", "abcd"],
];

for (const [consensus, waiting, eligible] of consensuses) {
  test(`consensus ${consensus}: ${waiting || "nobody"} may propose, ${eligible || "nobody"} may approve`, () => {
    const users = [ann, bob, cat, dan];
    const ask = (proposer: UserFacts): PolicyQuestion =>
      question([allow(toOne, consensus)], { approvers: [approval(proposer)] });
    const waits = users.filter((proposer) => decidePolicies(ask(proposer)).verdict === "consensus");
    assert.equal(waits.map(({ userId }) => userId).join(""), waiting);
    const [first] = waits;
    const voters = first === undefined ? [] : users.filter(({ userId }) => isEligible(ask(first), userId));
    assert.equal(voters.map(({ userId }) => userId).join(""), eligible);
  });
}

test("the second approval completes what the first began", () => {
  const texts = [allow(toOne, `${isAnn} && ${isBob}`)];
  assert.equal(decidePolicies(question(texts, { approvers: [approval(ann)] })).verdict, "consensus");
  assert.equal(decidePolicies(question(texts, { approvers: [approval(ann), approval(bob)] })).verdict, "allow");
  // An approval by somebody else leaves it waiting.
  assert.equal(decidePolicies(question(texts, { approvers: [approval(ann), approval(cat)] })).verdict, "consensus");
});

test("an approval whose owner has not voted again counts no more, but the proposer may still wait", () => {
  const texts = [allow(toOne, `${isAnn} && ${isBob}`)];
  assert.equal(decidePolicies(question(texts, { approvers: [approval(bob)], proposerId: "a" })).verdict, "consensus");
  assert.equal(decidePolicies(question(texts, { approvers: [], proposerId: "a" })).verdict, "consensus");
  assert.equal(decidePolicies(question(texts, { approvers: [], proposerId: "c" })).verdict, "none");
  assert.equal(decidePolicies(question(texts, { approvers: [], proposerId: "gone" })).verdict, "none");
});

test("the credential that was used counts for an approval, and any that they have for others", () => {
  const byPasskey = "credentials.any(k, k.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')";
  const texts = [allow(toOne, byPasskey)];
  assert.equal(decidePolicies(question(texts, { approvers: [approval(dan, 1)] })).verdict, "allow");
  // Dan has a passkey but did not use it: nobody is asked to wait for him.
  assert.equal(decidePolicies(question(texts, { approvers: [approval(dan, 0)] })).verdict, "none");
});

test("a user who appears twice counts once among approvers and twice among credentials", () => {
  const twice = [approval(dan, 0), approval(dan, 1)];
  const counts = "approvers.count() == 1 && credentials.count() == 2";
  assert.equal(decidePolicies(question([allow("", counts)], { approvers: twice })).verdict, "allow");
});

test("nobody is eligible for what is denied or hopeless already", () => {
  const waits = allow(toOne, `${isAnn} && ${isBob}`);
  assert.equal(isEligible(question([waits]), "b"), true);
  assert.equal(isEligible(question([waits, deny(toOne)]), "b"), false);
  assert.equal(isEligible(question([waits, allow(toOne)]), "b"), true);
  assert.equal(isEligible(question([waits], { approvers: [approval(cat)] }), "b"), false);
  assert.equal(isEligible(question([waits], { views: [ethereum("0x01"), ethereum("0x02")] }), "b"), false);
  assert.equal(isEligible(question([waits]), "gone"), false);
});

test("whom a policy is about stays eligible when it is satisfied: somebody must be able to ask anew", () => {
  const two = allow(toOne, "approvers.filter(u, u.id in ['a', 'b', 'c']).count() >= 2");
  const satisfied = question([two], { approvers: [approval(ann), approval(bob)] });
  assert.equal(decidePolicies(satisfied).verdict, "allow");
  assert.equal(isEligible(satisfied, "c"), true);
  assert.equal(isEligible(satisfied, "d"), false);
});

test("all who are named have approved, and the policy asks for fewer now: each of them may still speak", () => {
  const both = allow(toOne, "approvers.filter(u, u.id in ['a', 'b']).count() >= 2");
  const satisfied = question([both], { approvers: [approval(ann), approval(bob)] });
  assert.deepEqual(eligibleAmong(satisfied, ["a", "b", "c"]), ["a", "b"]);
});

test("an approval that only one of several open policies is about makes eligible", () => {
  const policies = [allow(toOne, `${isAnn} && ${isBob}`), allow(toOne, `${isAnn} && approvers.any(u, u.id == 'c')`)];
  assert.deepEqual(
    ["a", "b", "c", "d"].map((id) => isEligible(question(policies), id)),
    [true, true, true, false],
  );
});

test("looking for enough approvers ends, also among very many members", () => {
  const crowd = Array.from({ length: 2000 }, (_, i) => user(`u${String(i).padStart(4, "0")}`, ["ops"]));
  const pairs = "approvers.all(u, approvers.all(v, u.id != v.id || u.id == v.id)) && approvers.count() > 5000";
  const [first] = crowd;
  assert.ok(first);
  const asked = question([allow(toOne, pairs)], { approvers: [approval(first)], members: () => crowd });
  assert.equal(decidePolicies(asked).verdict, "none");
});

test("a thousand policies as dear as can be are decided within one budget: nothing is allowed, and what denies denies", () => {
  const members = Array.from({ length: 60 }, (_, at) => ({ ...ann, userId: `u${at}` }));
  const dear = "approvers.any(u, approvers.any(v, approvers.any(w, u.id == 'x' && v.id == 'y' && w.id == 'z')))";
  const asked = (texts: readonly PolicyText[]) =>
    question(texts, { approvers: members.map((user) => approval(user)), members: () => members });
  const policies = Array.from({ length: 1000 }, () => allow("", `!${dear}`));
  assert.equal(decidePolicies(asked(policies)).verdict, "none");
  assert.equal(isEligible(asked(policies), "u1"), false);
  assert.equal(decidePolicies(asked([...policies, deny("", dear)])).verdict, "deny");
});

const spans = `[${Array.from({ length: 200 }, (_, i) => i % 10)}]`;
const rarely = "CronSpan('0 0 29 2 *', '7d', 'America/New_York')";

test("spans cost what they take: a thousand policies that ask the calendar in loops are decided soon", () => {
  const time = `${spans}.all(a, ${spans}.all(b, !${rarely}))`;
  const asked = question(Array.from({ length: 10 }, () => allow("", "", time)));
  const plain = question([allow("", `approvers.all(u, ${spans}.all(a, ${spans}.all(b, a != b || a == b)))`)]);
  // Uncounted, the calendar would be asked 400,000 times.
  assertCost(
    () => assert.equal(decidePolicies(asked).verdict, "none"),
    () => void decidePolicies(plain),
    100,
  );
});

test("a long text among short ones is decided as soon as a short one", () => {
  const list = Array.from({ length: 4000 }, () => new EvmText("x"));
  const viewOf = (text: string) =>
    ethereum("0x01", [
      ["long", text],
      ["list", list],
    ]);
  const condition = `[${Array.from({ length: 20 }, (_, i) => i)}].any(n, eth.tx.contract_call_args['long'] in eth.tx.contract_call_args['list'])`;
  const decide = (text: string) => () => {
    const { evaluations } = decidePolicies(question([allow(condition)], { views: [viewOf(text)] }));
    assert.equal(evaluations[0]?.outcome, "OUTCOME_DENY_IMPLICIT");
  };
  assertCost(decide(`${"a".repeat(60_000)}é`), decide("aé"), 30);
});

test("views and policies without end have one budget, also where they have nothing in common: nothing is allowed beyond it", () => {
  const views = Array.from({ length: 1000 }, () => ethereum("0x01"));
  const others = Array.from({ length: 900 }, () => allow("bitcoin.tx.fee == 1"));
  const none = decidePolicies(question([...others, allow()], { views }));
  assert.equal(none.verdict, "none");
  assert.ok(none.view > 0 && none.view < 1000, "some view was the first that could not be decided");
  assert.equal(decidePolicies(question([...others, allow()], { views: views.slice(0, 500) })).verdict, "allow");
  // A denial that cannot be evaluated denies; one that is about something else does not.
  assert.equal(decidePolicies(question([...others, allow(), deny(`!(${toOne})`)], { views })).verdict, "deny");
  assert.equal(decidePolicies(question([...others, allow(), deny("bitcoin.tx.fee == 1")], { views })).verdict, "none");
  assert.equal(isEligible(question([...others, allow("", `${isAnn} && ${isBob}`)], { views }), "b"), false);
});

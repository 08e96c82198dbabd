/** The order in which quorum, policies and defaults decide, and what a refusal by policy says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityKinds, kindOf } from "@keystead/core/policy/vocabulary/activity_kinds.ts";
import { apiKey, person } from "../../test/members.ts";
import { type Draft, decide, nowMs, outcomesOf, questionOf, type Situation } from "../../test/policy_question.ts";
import { createApiKeys } from "../activities/create_api_keys.ts";
import { createUserTag } from "../activities/create_user_tag.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { activities, activityForms } from "../generated/activities.ts";
import { authorise, mayApprove, mayReject, rightsOf } from "./authorise.ts";
import { approvalMs } from "./votes.ts";

const team = "6d1c9a52-3a4a-4f5e-8f5b-0d8a3ad0d001";
const users = [
  person("ann", { userEmail: "ann@example.com" }),
  person("bob"),
  person("cleo", { userTags: [team] }),
  person("dave", { userTags: [team], apiKeys: [apiKey(1, { apiKeyId: "dave's key" })] }),
  person("erin"),
];
/** Ann and bob are root; both are needed unless a test says otherwise. */
const both = { threshold: 2, userIds: ["ann", "bob"] };
const either = { threshold: 1, userIds: ["ann", "bob"] };

const tagging = createUserTag as AnyActivity;
const own = { activity: createApiKeys as AnyActivity, params: { userId: "dave", apiKeys: [] } };

type Asked = Partial<Situation>;
const situation = (asked: Asked): Situation => ({ users, rootQuorum: both, activity: tagging, by: "dave", ...asked });

const allow: Draft = {};
const deny: Draft = { deny: true };
const tags: Draft = { condition: "activity.kind == 'CREATE_USER_TAG'" };
const otherwise: Draft = { condition: "activity.kind == 'CREATE_WALLET'" };
const named = (...ids: string[]) => ids.map((id) => `approvers.any(user, user.id == '${id}')`).join(" && ");
const together: Draft = { consensus: named("dave", "erin") };
const asksWallet: Draft = { condition: "wallet.id == 'cold'" };
/** Of nobody who approves is there an e-mail address at that place. */
const erring: Draft = { consensus: "approvers[5].email == 'a@example.com'" };
const past: Draft = { time: "time.now < Timestamp('2026-01-01T00:00:00Z')" };

const order: Readonly<Record<string, { asked: Asked; decided: string }>> = {
  "the root quorum beats a denial": {
    asked: { by: "ann", rootQuorum: either, policies: { deny } },
    decided: "ROOT_QUORUM",
  },
  "the root quorum beats a denial by several approvals, whoever proposed": {
    asked: { approvals: ["dave", "ann", "bob"], isWaiting: true, policies: { deny } },
    decided: "ROOT_QUORUM",
  },
  "a denial beats what is allowed": { asked: { policies: { allow, deny } }, decided: "refuse" },
  "a denial beats what waits for others": { asked: { policies: { deny, together } }, decided: "refuse" },
  "what is allowed beats what waits for others": { asked: { policies: { allow, together } }, decided: "POLICY" },
  "a policy allows": { asked: { policies: { tags } }, decided: "POLICY" },
  "a policy of something else does not": { asked: { policies: { otherwise } }, decided: "refuse" },
  "no policy, no permission": { asked: {}, decided: "refuse" },
  "a policy lets a root user act alone where several are needed": {
    asked: { by: "ann", policies: { tags } },
    decided: "POLICY",
  },
  "a denial of a root user waits while others of the quorum could bypass it": {
    asked: { by: "ann", policies: { deny } },
    decided: "consensus",
  },
  "a denial of a root user whose quorum cannot be reached ends it": {
    asked: { by: "ann", policies: { deny }, rootQuorum: { threshold: 2, userIds: ["ann", "gone"] } },
    decided: "refuse",
  },
  "a denial does not end what a root user approves, while the quorum could": {
    asked: { approvals: ["dave", "ann"], isWaiting: true, policies: { deny } },
    decided: "consensus",
  },
  "a denial that comes with a vote ends what no root user stands behind": {
    asked: {
      approvals: ["dave", "erin"],
      isWaiting: true,
      policies: { together, no: { ...deny, consensus: named("erin") } },
    },
    decided: "refuse",
  },
  "a root user whom no policy allows waits for the quorum": {
    asked: { by: "ann", policies: { otherwise } },
    decided: "consensus",
  },
  "an allowance that errs allows nothing": { asked: { policies: { erring } }, decided: "refuse" },
  "a denial that errs denies": { asked: { policies: { tags, erring: { ...erring, ...deny } } }, decided: "refuse" },
  "a denial that errs and could not have applied leaves it": {
    asked: { policies: { tags, erring: { ...erring, ...otherwise, ...deny } } },
    decided: "POLICY",
  },
  "a denial of what this activity does not have leaves it": {
    asked: { policies: { tags, wallets: { ...asksWallet, ...deny } } },
    decided: "POLICY",
  },
  "a denial out of its time leaves it": {
    asked: { policies: { tags, past: { ...past, ...deny } } },
    decided: "POLICY",
  },
  "an allowance out of its time allows nothing": { asked: { policies: { past } }, decided: "refuse" },
  "an approval whose day is over is no approval": {
    asked: { approvals: [["dave", approvalMs]], policies: { dave: { consensus: named("dave") } } },
    decided: "consensus",
  },
  "one's own credentials are one's own where policies say nothing": {
    asked: { ...own, policies: { otherwise } },
    decided: "OWN_CREDENTIAL",
  },
  "one's own credentials are denied by a policy": { asked: { ...own, policies: { deny } }, decided: "refuse" },
  "one's own credentials wait where a policy asks for others": {
    asked: { ...own, policies: { together } },
    decided: "consensus",
  },
  "one's own credentials do not wait for a policy that asks others": {
    asked: { ...own, policies: { others: { consensus: named("cleo", "erin") } } },
    decided: "OWN_CREDENTIAL",
  },
  "one's own credentials by a policy's leave": { asked: { ...own, policies: { allow } }, decided: "POLICY" },
  "another's credentials by a policy's leave": {
    asked: { ...own, by: "erin", policies: { allow } },
    decided: "POLICY",
  },
  "another's credentials without": { asked: { ...own, by: "erin", policies: { otherwise } }, decided: "refuse" },
};

for (const [name, { asked, decided }] of Object.entries(order)) {
  test(`decides: ${name}`, () => assert.equal(decide(situation(asked)), decided));
}

const rootQuorumOnly = Object.values(activities as Record<string, AnyActivity>).filter((each) => each.rootQuorumOnly);

test("what belongs to the root quorum alone is allowed by no policy, and none is asked about it", () => {
  assert.deepEqual(rootQuorumOnly.map(({ path }) => path).toSorted(), [
    "delete_sub_organization",
    "remove_organization_feature",
    "set_organization_feature",
    "update_organization_name",
    "update_root_quorum",
  ]);
  for (const activity of rootQuorumOnly) {
    for (const policies of [{ allow }, { deny }, { together }]) {
      const refused = authorise(questionOf(situation({ activity, policies })));
      assert.equal(refused.kind, "refuse", activity.path);
      assert.equal(refused.weighed, undefined);
      assert.equal(decide(situation({ activity, policies, by: "ann" })), "consensus");
      assert.equal(decide(situation({ activity, policies, by: "ann", rootQuorum: either })), "ROOT_QUORUM");
      const waiting = questionOf(situation({ activity, policies, by: "ann", isWaiting: true }));
      assert.deepEqual(
        users.map(({ userId }) => mayApprove(waiting, userId)),
        [true, true, false, false, false],
      );
      const all = users.map(({ userId }) => userId).filter((userId) => userId !== "bob");
      assert.equal(decide(situation({ activity, policies, by: "ann", approvals: all, isWaiting: true })), "consensus");
    }
  }
});

test("every activity has a kind that policies know, or is the root quorum's alone, or a vote", () => {
  const beyond = new Set<string>();
  for (const { type, activity } of activityForms.values()) {
    const isKnown = activityKinds[kindOf(type)] !== undefined;
    if (activity.vote !== undefined || activity.rootQuorumOnly === true) beyond.add(activity.path);
    else assert.ok(isKnown, `${type} has no kind`);
    // Its own root quorum deletes an organization, though the published table has a row for it.
    assert.ok(activity.vote === undefined || !isKnown, `policies could decide on ${type}`);
  }
  assert.equal(beyond.size, rootQuorumOnly.length + 2);
});

test("what waits for others is open to those alone whom its policy names, as proposers and as voters", () => {
  const policies = {
    together,
    team: { consensus: `approvers.filter(user, user.tags.contains('${team}')).count() >= 2` },
  };
  const only = { policies: { together } };
  assert.deepEqual(
    users.map(({ userId }) => decide(situation({ ...only, by: userId }))),
    ["consensus", "consensus", "refuse", "consensus", "consensus"],
  );
  assert.deepEqual(
    users.map(({ userId }) => mayApprove(questionOf(situation({ ...only, isWaiting: true })), userId)),
    [true, true, false, true, true],
  );
  assert.deepEqual(
    users.map(({ userId }) => mayApprove(questionOf(situation({ policies, isWaiting: true })), userId)),
    [true, true, true, true, true],
  );
  assert.equal(decide(situation({ ...only, approvals: ["dave", "erin"], isWaiting: true })), "POLICY");
  assert.equal(decide(situation({ ...only, approvals: ["dave", "cleo"], isWaiting: true })), "consensus");
  const hopeless = { policies: { hopeless: { consensus: named("dave", "gone") } } };
  assert.equal(decide(situation(hopeless)), "refuse", "nobody could ever fulfil it");
});

const whoVotes: Readonly<Record<string, { asked: Asked; cleo: boolean; dave: boolean; erin: boolean }>> = {
  "while the policy asks them": { asked: { policies: { together } }, cleo: false, dave: true, erin: true },
  "not where its condition is false": {
    asked: { policies: { together: { ...together, ...otherwise } } },
    ...{ cleo: false, dave: false, erin: false },
  },
  "not out of its time": {
    asked: { policies: { together: { ...together, ...past } } },
    cleo: false,
    dave: false,
    erin: false,
  },
  "not where another policy denies": { asked: { policies: { together, deny } }, cleo: false, dave: false, erin: false },
  "not under a proposer whom the policy does not name": {
    asked: { by: "cleo", policies: { together } },
    ...{ cleo: false, dave: false, erin: false },
  },
  "not under a proposer who is gone": {
    asked: { by: "gone", policies: { together } },
    cleo: false,
    dave: false,
    erin: false,
  },
  "everybody where everybody is counted": {
    asked: { policies: { many: { consensus: "approvers.count() >= 3" } } },
    ...{ cleo: true, dave: true, erin: true },
  },
};

for (const [name, { asked, ...expected }] of Object.entries(whoVotes)) {
  test(`those whom a policy names may vote: ${name}`, () => {
    const waiting = questionOf(situation({ ...asked, isWaiting: true }));
    for (const [userId, may] of Object.entries(expected)) {
      assert.equal(mayApprove(waiting, userId), may, userId);
      assert.equal(mayReject(waiting, userId), may || userId === waiting.proposerId, userId);
    }
    for (const root of ["ann", "bob"]) assert.ok(mayApprove(waiting, root));
    assert.deepEqual(rightsOf(waiting, "gone"), { canApprove: false, canReject: false });
    assert.deepEqual(rightsOf(waiting, "erin"), { canApprove: expected.erin, canReject: expected.erin });
  });
}

test("who has approved cannot approve again, and can still reject", () => {
  const waiting = questionOf(situation({ policies: { together }, isWaiting: true }));
  assert.deepEqual(rightsOf(waiting, "dave"), { canApprove: false, canReject: true });
});

test("a refusal lists every policy in the order of ids, and of those that allow the clause that was not met", () => {
  const policies = {
    wallets: { ...asksWallet, ...deny },
    otherwise: { condition: `activity.action == 'CREATE' && ${otherwise.condition}` },
    past,
  };
  const decision = authorise(questionOf(situation({ policies })));
  assert.ok(decision.kind === "refuse");
  assert.deepEqual(decision.fault.code, "permission_denied");
  assert.equal(decision.fault.message, "You don't have sufficient permissions to take this action.");
  const [detail, ...more] = decision.fault.details;
  assert.deepEqual(more, []);
  assert.deepEqual(detail, {
    "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
    message: "No policies evaluated to outcome: Allow",
    policyEvaluations: [
      { policyId: "otherwise", outcome: "OUTCOME_DENY_IMPLICIT" },
      { policyId: "past", outcome: "OUTCOME_TIME_INACTIVE" },
      { policyId: "wallets", outcome: "OUTCOME_ERROR" },
    ],
    explanations: [
      {
        policyId: "otherwise",
        outcome: "OUTCOME_DENY_IMPLICIT",
        expression: "condition",
        clause: "activity.kind == 'CREATE_WALLET'",
        start: 31,
        end: 63,
        observed: { "activity.kind": "CREATE_USER_TAG" },
      },
      {
        policyId: "past",
        outcome: "OUTCOME_TIME_INACTIVE",
        expression: "time",
        clause: past.time,
        start: 0,
        end: past.time?.length,
        observed: { "time.now": new Date(nowMs).toISOString() },
      },
    ],
    explanationsLeftOut: 1,
  });
});

test("a denial names the policies that deny, erring ones too, and says what they saw", () => {
  const policies = { zeal: { ...tags, ...deny }, erring: { ...erring, ...deny }, allow };
  const decision = authorise(questionOf(situation({ policies })));
  assert.ok(decision.kind === "refuse");
  const [detail] = decision.fault.details as readonly [
    { message: string; explanations: { reason?: string; observed: object }[] },
  ];
  assert.equal(detail.message, "The following policies denied this action: erring, zeal");
  assert.deepEqual(outcomesOf(decision), {
    allow: "OUTCOME_ALLOW",
    erring: "OUTCOME_ERROR",
    zeal: "OUTCOME_DENY_EXPLICIT",
  });
  assert.match(detail.explanations[0]?.reason ?? "", /a policy that denies does so too when it cannot be evaluated$/);
  assert.deepEqual(detail.explanations[1]?.observed, { "activity.kind": "CREATE_USER_TAG" });
  assert.equal(detail.explanations.length, 2, "what does not deny has no part in a denial");
});

test("a refusal under fifteen policies explains the three nearest, counts the others and stays short", () => {
  const kinds = ["SIGN_TRANSACTION", "CREATE_WALLET", "EXPORT_WALLET", "DELETE_USERS"].map((kind) => `'${kind}'`);
  const far = { condition: `activity.kind in [${kinds.join(", ")}] && activity.resource == 'WALLET'` };
  const near = { condition: `activity.action == 'CREATE' && ${otherwise.condition}` };
  const policies = {
    ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`far ${at}`, far])),
    ...{ near, wallets: asksWallet, erring },
  };
  const decision = authorise(questionOf(situation({ policies })));
  assert.ok(decision.kind === "refuse");
  const [detail] = decision.fault.details as readonly [
    { policyEvaluations: object[]; explanations: { policyId: string }[]; explanationsLeftOut: number },
  ];
  const shown = detail.explanations.map(({ policyId }) => policyId);
  assert.equal(detail.policyEvaluations.length, 15);
  assert.ok(shown.includes("near") && shown.includes("erring"), shown.join());
  assert.deepEqual([shown.length, detail.explanationsLeftOut], [3, 12]);
  assert.ok(JSON.stringify(detail).length < 2_500, `${JSON.stringify(detail).length} characters`);
  assert.equal(decision.weighed?.explanations.length, 15, "all of them are kept for who asks later");
});

test("where no policy was asked a refusal has an empty list and no explanations", () => {
  const decision = authorise(questionOf(situation({})));
  assert.ok(decision.kind === "refuse");
  assert.deepEqual(decision.fault.details, [
    {
      "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
      message: "No policies evaluated to outcome: Allow",
      policyEvaluations: [],
    },
  ]);
});

test("an approval whose credential is gone keeps its type; what else a policy asks of it has no value, and denies", () => {
  const login = "CREDENTIAL_TYPE_LOGIN";
  const byType: Draft = { deny: true, consensus: `credentials.any(c, c.type == '${login}')` };
  const byKey: Draft = { deny: true, consensus: "credentials.any(c, c.public_key == '02aa')" };
  const byPasskey: Draft = { deny: true, consensus: "credentials.any(c, c.credential_id == 'aa')" };
  const noSession: Draft = { consensus: `credentials.all(c, c.type != '${login}')` };
  const decideWith = (policies: Record<string, Draft>, credentialType?: string) => {
    const question = questionOf(situation({ policies }));
    const gone = { userId: "dave", credentialId: "gone", ...(credentialType && { credentialType }), atMs: nowMs };
    return authorise({ ...question, approvals: [gone] });
  };
  assert.equal(decideWith({ allow, byType }, login).kind, "refuse");
  assert.equal(decideWith({ allow, byType }, "CREDENTIAL_TYPE_API_KEY_P256").kind, "allow");
  assert.equal(decideWith({ noSession }, "CREDENTIAL_TYPE_API_KEY_P256").kind, "allow");
  assert.equal(decideWith({ noSession }, login).kind, "refuse");
  // Where it was not kept, nobody knows: an erring denial denies, an erring allowance does not allow.
  assert.equal(decideWith({ allow, byType }).kind, "refuse");
  assert.equal(decideWith({ noSession }).kind, "refuse");
  for (const denial of [byKey, byPasskey]) {
    assert.equal(decideWith({ allow, denial }, "CREDENTIAL_TYPE_API_KEY_P256").kind, "refuse");
  }
  assert.equal(decideWith({ allow }).kind, "allow", "who approves counts as before");
});

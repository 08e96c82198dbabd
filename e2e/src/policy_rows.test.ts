/** Cases of published policies, asked of a running server: its simulator answers as the engine does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type PolicyCase, type PolicyCaseFile, parseCases } from "@keystead/core/policy/cases/case_file.ts";
import { createApiKeyStamper, createClient, queries, type SimulateActivityResponse } from "@keystead/sdk";
import { findPolicyRows, readRowCases } from "../../core/test/policy_rows.ts";
import { startKeystead } from "./keystead_server.ts";

const decisions = { allow: "DECISION_ALLOW", deny: "DECISION_DENY", consensus: "DECISION_CONSENSUS_NEEDED" } as const;

/** What a scenario has no words for yet: secrets, passkeys, and a second key of the same user. */
function isBeyondScenario({ activity, approvers = [] }: PolicyCase, { users }: PolicyCaseFile): boolean {
  return (
    activity.type.includes("SECRETS") ||
    approvers.some(({ credentialId }) => credentialId !== undefined) ||
    approvers.some(({ userId }) => users.some((user) => user.userId === userId && user.authenticators !== undefined))
  );
}

/** The case with everybody and everything in it as a supposition: the organization itself has nothing but its root user. */
function toRequest(file: PolicyCaseFile, one: PolicyCase): object {
  const { activity, proposer, approvers = [{ userId: proposer }], now, policies = [] } = one;
  const { users, keys = [], interfaces = [] } = file;
  return {
    activity,
    proposerId: proposer,
    approverIds: approvers.map(({ userId }) => userId),
    ...(now === undefined ? {} : { timeMs: String(Date.parse(now)) }),
    policies: { add: policies },
    scenario: { users: users.map(({ authenticators, ...user }) => user), keys, interfaces },
  };
}

/** Making one's own session needs no policy, so the server allows what no policy denies. The engine alone knows of no such rule. */
function isOwnSession({ activity: { type }, policies = [] }: PolicyCase): boolean {
  const isSession = /^ACTIVITY_TYPE_(CREATE_READ_(WRITE|ONLY)_SESSION|STAMP_LOGIN)/.test(type);
  return isSession && policies.every(({ effect }) => effect === "EFFECT_ALLOW");
}

/** What waited for its approvers goes on waiting where they do not suffice: the root quorum could still approve it. */
function isExpected(one: PolicyCase, decision: string): boolean {
  const { expect, approvers = [] } = one;
  if (decision === decisions.allow && isOwnSession(one)) return true;
  const mayWait = expect === "deny" && approvers.length > 1 && decision === decisions.consensus;
  return mayWait || decision === decisions[expect];
}

test("the simulator decides the cases of published policies as they say, outcomes included", async (t) => {
  const rows = findPolicyRows(t);
  if (rows === undefined) return;
  const server = await startKeystead();
  t.after(() => server.stop());
  const { organizationId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const client = createClient({ baseUrl: server.url, organizationId, stamper });
  const counts = { asked: 0, beyond: 0 };
  for (const { file: json } of readRowCases(rows)) {
    const file = parseCases(json);
    for (const one of file.cases) {
      if (isBeyondScenario(one, file)) {
        counts.beyond += 1;
        continue;
      }
      counts.asked += 1;
      const body = { organizationId, ...toRequest(file, one) };
      const answer = await client.request<SimulateActivityResponse>(queries.simulate_activity.url, body);
      assert.ok(isExpected(one, answer.decision), `${one.name}: ${answer.decision}`);
      // Its own root quorum deletes an organization, and no policy is asked.
      if (one.activity.type === "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION") continue;
      for (const [name, outcome] of Object.entries(one.outcomes ?? {})) {
        assert.equal(
          answer.policyEvaluations.find(({ policyName }) => policyName === name)?.outcome,
          outcome,
          one.name,
        );
      }
    }
  }
  t.diagnostic(`${counts.asked} cases asked, ${counts.beyond} beyond what a scenario can say`);
  assert.equal(counts.beyond, 22);
});

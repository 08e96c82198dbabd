/**
 * Runs test cases over the same engine that decides for the signer. What stands before policies in an organization (the root
 * quorum, the rights over one's own credentials) is not asked: a case says what the policies alone decide.
 */
import { Fault } from "../../fault.ts";
import { compilePolicy } from "../decision/compiled_policy.ts";
import { decidePolicies, type Outcome, type PolicyDecision, type PolicyQuestion } from "../decision/decide.ts";
import { explain, type PolicyExplanation } from "../decision/explain.ts";
import { viewsOf } from "../facts/condition_views.ts";
import type { Approver, CredentialFacts, UserFacts } from "../facts/facts.ts";
import { parseTimestamp } from "../time/timestamp_literal.ts";
import { kindOf } from "../vocabulary/activity_kinds.ts";
import { toActivityFacts } from "./case_activity.ts";
import { beyondPolicies, type CaseUser, type CaseVerdict, type PolicyCase, type PolicyCaseFile } from "./case_file.ts";

export type CaseResult = {
  name: string;
  expected: CaseVerdict;
  /** Undefined when there was nothing to decide: see `error`. */
  got: CaseVerdict | undefined;
  /** Whether the verdict and every outcome that the case names are as expected. */
  passed: boolean;
  evaluations: readonly { policyName: string; outcome: Outcome; expected?: Outcome }[];
  explanations: readonly (PolicyExplanation & { policyName: string })[];
  /** Why the case could not be run: a policy, transaction or interface that cannot be read, a key that is not in the file. */
  error?: string;
};

/** Decides one case. A case that cannot be run is a result too: it has not passed, whatever it expects. */
export function runCase(file: PolicyCaseFile, one: PolicyCase): CaseResult {
  const head = { name: one.name, expected: one.expect };
  try {
    const isBeyond = beyondPolicies.includes(kindOf(one.activity.type));
    return { ...head, ...(isBeyond ? refuse(one) : decideCase(file, one)) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ...head, got: undefined, passed: false, evaluations: [], explanations: [], error: error.message };
  }
}

type Decided = Omit<CaseResult, "name" | "expected" | "error">;

/** No policy is asked about these, so none can allow them. */
function refuse({ expect, outcomes = {} }: PolicyCase): Decided {
  const passed = expect === "deny" && Object.keys(outcomes).length === 0;
  return { got: "deny", passed, evaluations: [], explanations: [] };
}

const verdicts = { allow: "allow", deny: "deny", none: "deny", consensus: "consensus" } as const satisfies Record<
  PolicyDecision["verdict"],
  CaseVerdict
>;

function decideCase(file: PolicyCaseFile, one: PolicyCase): Decided {
  const question = questionOf(file, one);
  const decision = decidePolicies(question);
  const got = verdicts[decision.verdict];
  const wanted = new Map(Object.entries(one.outcomes ?? {}));
  const evaluations = decision.evaluations.map(({ policyId, outcome }) => {
    const expected = wanted.get(policyId);
    return { policyName: policyId, outcome, ...(expected === undefined ? {} : { expected }) };
  });
  const asExpected = evaluations.every(({ outcome, expected = outcome }) => outcome === expected);
  return {
    got,
    passed: got === one.expect && asExpected,
    evaluations,
    explanations: explain(question, decision).map((explanation) => ({
      ...explanation,
      policyName: explanation.policyId,
    })),
  };
}

/** The case as the engine is asked about it. Policies have no ids here, so their names stand for them. */
function questionOf(file: PolicyCaseFile, one: PolicyCase): PolicyQuestion {
  const users = new Map(file.users.map((user) => [user.userId, toUserFacts(user)]));
  const approvers = one.approvers ?? [{ userId: one.proposer }];
  return {
    policies: (one.policies ?? file.policies ?? []).map(
      ({ policyName, effect, consensus = "", condition = "", time = "" }) => ({
        policyId: policyName,
        policy: compilePolicy({ effect, consensus, condition, time }),
      }),
    ),
    views: viewsOf(toActivityFacts(file, one.activity)),
    proposerId: one.proposer,
    approvers: approvers.map(({ userId, credentialId }) => toApprover(users.get(userId), credentialId)),
    members: () => [...users.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1)),
    // Without a moment no policy asks for one: the file was checked for that.
    nowMs: one.now === undefined ? 0 : parseTimestamp(one.now),
  };
}

function toUserFacts({ userId, userName, userEmail, userTags = [], ...user }: CaseUser): UserFacts {
  const { apiKeys = [], authenticators = [] } = user;
  const credentials: CredentialFacts[] = [
    ...apiKeys.map(({ apiKeyId, type, publicKey }) => ({ id: apiKeyId, type, publicKey })),
    ...authenticators.map(({ authenticatorId, credentialId, publicKey }) => ({
      id: authenticatorId,
      type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR",
      publicKey,
      credentialId,
    })),
  ];
  // Nobody stamps without a credential; most cases do not care which.
  if (credentials.length === 0) credentials.push({ id: userId, type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "" });
  return { userId, userName, ...(userEmail === undefined ? {} : { userEmail }), userTags, credentials };
}

function toApprover(user: UserFacts | undefined, credentialId: string | undefined): Approver {
  const credential = user?.credentials.find(({ id }) => credentialId === undefined || id === credentialId);
  if (user === undefined || credential === undefined)
    throw new Fault("internal", "an approver that the file does not have");
  return { user, credential };
}

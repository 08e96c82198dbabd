/**
 * What an organization's policies say about an activity. Every policy is asked, each gives one outcome, and the outcomes
 * decide: a denial beats everything, then an allowance, then a policy that waits for more approvals. Otherwise nothing is
 * allowed. SPEC.md has the table.
 */

import { finish, type Work } from "../../work.ts";
import { exhausted } from "../evaluation/compiler.ts";
import { Allowance, maxDecisionSteps, Scope, spendShared } from "../evaluation/scope.ts";
import type { Approver, ConditionFacts, UserFacts } from "../facts/facts.ts";
import type { Result } from "../values/values.ts";
import type { CompiledPolicy } from "./compiled_policy.ts";
import { Electorate, isAboutProposer, isOpen, isRelevant } from "./consensus.ts";
import { isApplicable, presentIn } from "./needs.ts";

/** The published words. The engine itself never says REJECTED or REQUIRES_AUTHENTICATORS: votes and sign-ins do. */
export type Outcome =
  | "OUTCOME_ALLOW"
  | "OUTCOME_DENY_EXPLICIT"
  | "OUTCOME_DENY_IMPLICIT"
  | "OUTCOME_REQUIRES_CONSENSUS"
  | "OUTCOME_REJECTED"
  | "OUTCOME_ERROR"
  | "OUTCOME_TIME_INACTIVE"
  | "OUTCOME_REQUIRES_AUTHENTICATORS";

export type IdentifiedPolicy = { policyId: string; policy: CompiledPolicy };

export type PolicyQuestion = {
  policies: readonly IdentifiedPolicy[];
  /** One per thing that is signed; all must pass. */
  views: readonly ConditionFacts[];
  proposerId: string;
  /** Active approvals, the proposer's among them if active; at most one per user. */
  approvers: readonly Approver[];
  /** Everybody who could still approve, in id order; asked for only when consensus is in question. */
  members(): readonly UserFacts[];
  nowMs: number;
};

/** `denies` tells an error that refuses the activity from one that leaves it alone. */
export type PolicyEvaluation = { policyId: string; outcome: Outcome; denies: boolean };

export type Verdict = "deny" | "none" | "consensus" | "allow";

export type PolicyDecision = {
  verdict: Verdict;
  /** Of the view that decided, one for each policy and in their order. */
  evaluations: readonly PolicyEvaluation[];
  view: number;
};

/** Of several views the worst one decides. */
const fromWorst: readonly Verdict[] = ["deny", "none", "consensus", "allow"];

export function decidePolicies(question: PolicyQuestion): PolicyDecision {
  return finish(decidingPolicies(question));
}

/** The same with pauses. */
export function* decidingPolicies(question: PolicyQuestion): Work<PolicyDecision> {
  const decisions = yield* decidingViews(question, electorateOf(question));
  for (const verdict of fromWorst) {
    const decision = decisions.find((one) => one.verdict === verdict);
    if (decision !== undefined) return decision;
  }
  // An activity that shows nothing was not looked at, so nothing allowed it.
  return { verdict: "none", evaluations: [], view: 0 };
}

/**
 * Users whose approval counts: in some open policy whose condition and time hold. One that is satisfied already counts too: what
 * waits while its policy is changed in its favour would else wait for ever, with nobody to ask anew.
 */
export function isEligible(question: PolicyQuestion, userId: string): boolean {
  return eligibleAmong(question, [userId]).length > 0;
}

/** Those of these users whose approval counts. The policies are asked once for all of them. */
export function eligibleAmong(question: PolicyQuestion, userIds: readonly string[]): readonly string[] {
  return finish(findingEligible(question, userIds));
}

/** The same with pauses. */
export function* findingEligible(question: PolicyQuestion, userIds: readonly string[]): Work<readonly string[]> {
  const electorate = electorateOf(question);
  const decisions = yield* decidingViews(question, electorate);
  yield;
  if (decisions.some(({ verdict }) => verdict === "deny" || verdict === "none")) return [];
  const asking = question.policies.filter(({ policy }, at) =>
    decisions.some(({ evaluations }) => {
      const outcome = evaluations[at]?.outcome;
      return (
        outcome === "OUTCOME_REQUIRES_CONSENSUS" || (outcome === "OUTCOME_ALLOW" && isAboutProposer(policy, electorate))
      );
    }),
  );
  return userIds.filter((userId) => asking.some(({ policy }) => isRelevant(policy, electorate, userId)));
}

function electorateOf(question: PolicyQuestion): Electorate {
  return new Electorate(
    question.proposerId,
    question.approvers,
    () => question.members(),
    new Allowance(maxDecisionSteps),
  );
}

/** What does not depend on the view is asked once for all of them. */
type Common = { consensus: Result; time: Result; isOpen: boolean | undefined };

/** Steps between two pauses: a few milliseconds. */
export const stepsAtOnce = 50_000;

function* decidingViews(
  { policies, views, nowMs }: PolicyQuestion,
  electorate: Electorate,
): Work<readonly PolicyDecision[]> {
  const { allowance } = electorate;
  const commons: (Common | undefined)[] = new Array(policies.length).fill(undefined);
  const decisions: PolicyDecision[] = [];
  for (let view = 0; view < views.length; view++) {
    const facts = views[view] as ConditionFacts;
    const isSpent = allowance.left <= 0;
    const scope = new Scope(facts, electorate.voices, nowMs, allowance);
    const asked = { policies, facts, present: presentIn(facts), scope, commons, electorate };
    const evaluations: PolicyEvaluation[] = [];
    while (evaluateSome(asked, evaluations)) yield;
    decisions.push({ verdict: verdictOf(evaluations), evaluations, view });
    // Views of one activity have the same namespaces: without steps, the same policies err in all those that are left.
    if (isSpent) break;
    if (view % viewsAtOnce === viewsAtOnce - 1) yield;
  }
  return decisions;
}

/** Views between two pauses, where each takes few steps. */
const viewsAtOnce = 20;

type Asked = {
  policies: readonly IdentifiedPolicy[];
  facts: ConditionFacts;
  present: number;
  scope: Scope;
  commons: (Common | undefined)[];
  electorate: Electorate;
};

/** Goes on with the policies of one view until they have taken their steps. Whether some are left. */
function evaluateSome(
  { policies, facts, present, scope, commons, electorate }: Asked,
  evaluations: PolicyEvaluation[],
): boolean {
  const { allowance } = electorate;
  const pauseAt = allowance.left - stepsAtOnce;
  for (let at = evaluations.length; at < policies.length; at++) {
    if (allowance.left <= pauseAt) return true;
    const { policyId, policy } = policies[at] as IdentifiedPolicy;
    // Of a thousand views and a thousand policies, to see that they have nothing in common takes its time too.
    const isPaid = spendShared(allowance);
    if (!isApplicable(policy.needs, facts, present)) {
      evaluations.push(notApplicable(policyId));
      continue;
    }
    const common = commons[at] ?? ask(policy, scope);
    commons[at] = common;
    const condition = isPaid ? policy.condition.evaluate(scope) : exhausted(policy.condition.place);
    const outcome = outcomeOf(policy, condition, common, electorate);
    evaluations.push({ policyId, outcome, denies: isDenial(policy, outcome, condition, common) });
  }
  return false;
}

function ask({ consensus, time }: CompiledPolicy, scope: Scope): Common {
  return { consensus: consensus.evaluate(scope), time: time.evaluate(scope), isOpen: undefined };
}

function notApplicable(policyId: string): PolicyEvaluation {
  return { policyId, outcome: "OUTCOME_ERROR", denies: false };
}

/** The first row that fits. What is neither true nor false is an error, whatever it is. */
function outcomeOf(policy: CompiledPolicy, condition: Result, common: Common, electorate: Electorate): Outcome {
  const { consensus, time } = common;
  if (!isSettled(condition) || !isSettled(consensus) || !isSettled(time)) return "OUTCOME_ERROR";
  if (!condition) return "OUTCOME_DENY_IMPLICIT";
  if (consensus && !time) return "OUTCOME_TIME_INACTIVE";
  if (consensus) return policy.effect === "EFFECT_DENY" ? "OUTCOME_DENY_EXPLICIT" : "OUTCOME_ALLOW";
  if (policy.effect !== "EFFECT_ALLOW" || !time) return "OUTCOME_DENY_IMPLICIT";
  common.isOpen ??= isOpen(policy, electorate);
  return common.isOpen ? "OUTCOME_REQUIRES_CONSENSUS" : "OUTCOME_DENY_IMPLICIT";
}

function isSettled(result: Result): result is boolean {
  return result === true || result === false;
}

/** A policy that should deny and cannot tell whether it applies denies, unless one of its expressions says that it does not. */
function isDenial(policy: CompiledPolicy, outcome: Outcome, condition: Result, { consensus, time }: Common): boolean {
  if (policy.effect !== "EFFECT_DENY") return false;
  if (outcome === "OUTCOME_DENY_EXPLICIT") return true;
  return outcome === "OUTCOME_ERROR" && condition !== false && consensus !== false && time !== false;
}

function verdictOf(evaluations: readonly PolicyEvaluation[]): Verdict {
  let verdict: Verdict = "none";
  for (const { outcome, denies } of evaluations) {
    if (denies) return "deny";
    if (outcome === "OUTCOME_ALLOW") verdict = "allow";
    else if (outcome === "OUTCOME_REQUIRES_CONSENSUS" && verdict === "none") verdict = "consensus";
  }
  return verdict;
}

/**
 * The decision point: may this be done, with these approvals? What must be one's own act is nobody else's, whoever approves.
 * Then the root quorum bypasses policies; a denial by policy beats what policies allow; what they allow beats the defaults. The
 * signer asks here before it does anything; readers and the simulator ask the same, and nothing follows from their answer.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { LeafGrounds } from "@keystead/core/log/leaf_words.ts";
import {
  decidingPolicies,
  findingEligible,
  type Outcome,
  type PolicyDecision,
  type PolicyEvaluation,
  type PolicyQuestion,
} from "@keystead/core/policy/decision/decide.ts";
import { explaining, type PolicyExplanation } from "@keystead/core/policy/decision/explain.ts";
import { readingViews } from "@keystead/core/policy/facts/condition_views.ts";
import type { UserFacts } from "@keystead/core/policy/facts/facts.ts";
import { finish, type Work } from "@keystead/core/work.ts";
import type { ActivityForm } from "../endpoints/define_activity.ts";
import type { Approval } from "../state/entities.ts";
import type { Pages } from "../state/pages.ts";
import { activityFacts, type FactSources } from "./activity_facts.ts";
import { decisive, withinBounds } from "./explanations.ts";
import { approversOf, compiledPolicies, memberFacts } from "./policies.ts";
import { isActive, rootMembers } from "./votes.ts";

export type Question = FactSources & {
  pages: Pick<Pages, "members" | "policies" | "privateKeyTags" | "contractInterfaces">;
  form: ActivityForm;
  /** In the newest form. */
  params: unknown;
  proposerId: string;
  approvals: readonly Approval[];
  /** It was submitted before, by somebody who might then. */
  isWaiting: boolean;
  /** The pages are those of a parent that acts in its sub-organization. It is done at once or not at all, and is nobody's own act. */
  isByParent?: true;
  /** It came through the auth proxy, which the state allows it: policies can deny it, and need not allow it. */
  isByAuthProxy?: true;
  nowMs: number;
  /** Approvals up to this time do not count; readers do not know it. */
  acceptedAtMs?: number;
};

/** What policies said, for whoever asks why. */
export type Weighed = {
  evaluations: readonly PolicyEvaluation[];
  explanations: readonly PolicyExplanation[];
  /** Which of several payloads settled it. */
  view: number;
  /** The refusal has all explanations, so that they need not be kept a second time. */
  isFullyExplained?: boolean;
};

export type Decision = (
  | { kind: "allow"; grounds: LeafGrounds }
  /** More approvals are wanted, and could come. */
  | { kind: "consensus" }
  | { kind: "refuse"; fault: Fault }
  /** Its payload cannot be read: whoever approved, it could not be done. */
  | { kind: "fail"; fault: Fault }
) & {
  /** Absent when policies were not asked. */
  weighed?: Weighed;
};

export function authorise(question: Question): Decision {
  return finish(authorising(question));
}

/** The same with pauses. */
export function* authorising(question: Question): Work<Decision> {
  const decision = yield* decide(question);
  return question.isByParent === true ? ofParent(decision, question) : decision;
}

/**
 * Voters of one organization have no place in the state of another, so what would have to wait for them is refused. The rows are the
 * sub-organization's, whose members may read them: they say nothing of the parent's policies.
 */
function ofParent(decision: Decision, question: Question): Decision {
  if (decision.kind === "allow") return { kind: "allow", grounds: decision.grounds };
  if (decision.kind === "fail") return { kind: "fail", fault: decision.fault };
  return { kind: "refuse", fault: refusal(noAllow, question) };
}

/** The configuration is the permission. A denial holds; nobody is waited for. */
function* decideForProxy(question: Question): Work<Decision> {
  const asked = yield* askingPolicies(question, activeApprovals(question));
  if (asked instanceof Fault) return { kind: "fail", fault: asked };
  const { verdict, weighed } = yield* weighing(asked);
  if (verdict === "deny") return refuse(denialOf(weighed), question, weighed);
  return { kind: "allow", grounds: "AUTH_PROXY", weighed };
}

function* decide(question: Question): Work<Decision> {
  if (question.isByAuthProxy === true) return yield* decideForProxy(question);
  const { pages, form, params, proposerId, isWaiting } = question;
  const { members } = pages;
  const { activity } = form;
  const owner = activity.ownActOf?.(params as never, proposerId);
  // Who is not there is nobody else's act either: running it says so.
  const isAnothers = owner !== undefined && owner !== proposerId && members.users.has(owner);
  if (isAnothers || (owner !== undefined && question.isByParent === true)) {
    return { kind: "refuse", fault: refusal("`userId` must be the user who makes this request", question) };
  }
  const approvals = activeApprovals(question);
  const approves = (userId: string) => approvals.some((approval) => approval.userId === userId);
  // A recovery key is no voice in the quorum, whosever it is.
  const quorum = activity.byRecoveryKey === true ? [] : rootMembers(members);
  const { threshold } = members.rootQuorum;
  if (threshold >= 1 && quorum.filter(approves).length >= threshold) return { kind: "allow", grounds: "ROOT_QUORUM" };
  // What waits goes on waiting while the quorum could still approve it, also when its proposer has left: one approval among
  // several that are needed must not end it.
  const isReachable = quorum.length >= threshold;
  const isOpenToQuorum = isReachable && (isWaiting || quorum.includes(proposerId));
  if (activity.rootQuorumOnly === true) {
    return isOpenToQuorum ? { kind: "consensus" } : { kind: "refuse", fault: refusal(noAllow, question) };
  }
  const asked = yield* askingPolicies(question, approvals);
  if (asked instanceof Fault) return { kind: "fail", fault: asked };
  const { verdict, weighed } = yield* weighing(asked);
  if (verdict === "deny") {
    // The quorum could still bypass the policy; ended here, one bad denial would keep it from ever being mended, and a member
    // who approves what waits would end it by that.
    const hasMember = quorum.includes(proposerId) || quorum.some(approves);
    if (isReachable && threshold > 1 && hasMember) return { kind: "consensus", weighed };
    return refuse(denialOf(weighed), question, weighed);
  }
  if (verdict === "allow") return { kind: "allow", grounds: "POLICY", weighed };
  if (verdict === "consensus") return { kind: "consensus", weighed };
  const isOwn = question.isByParent !== true && activity.ownCredentialOf?.(params as never, proposerId) === proposerId;
  if (isOwn && approves(proposerId)) {
    return { kind: "allow", grounds: "OWN_CREDENTIAL", weighed };
  }
  if (isOpenToQuorum) return { kind: "consensus", weighed };
  return refuse(noAllow, question, weighed);
}

/**
 * Being named by the quorum, or by a policy that is open to this activity, is itself the permission to approve. Whoever votes does
 * so with one credential, and a policy may ask for another.
 */
export function mayApprove(question: Question, userId: string, credentialId?: string): boolean {
  return approversAmong(question, [userId], credentialId).length > 0;
}

/** Those of these users who may approve. Policies are asked once for all of them. */
export function approversAmong(question: Question, userIds: readonly string[], credentialId?: string): string[] {
  return finish(findingApprovers(question, userIds, credentialId));
}

/** The same with pauses. */
export function* findingApprovers(
  question: Question,
  userIds: readonly string[],
  credentialId?: string,
): Work<string[]> {
  const { members } = question.pages;
  const quorum = rootMembers(members);
  const others = userIds.filter((userId) => members.users.has(userId) && !quorum.includes(userId));
  const named = new Set(yield* findingNamed(question, others, credentialId));
  return userIds.filter((userId) => quorum.includes(userId) || named.has(userId));
}

function* findingNamed(question: Question, userIds: readonly string[], credentialId?: string): Work<readonly string[]> {
  if (userIds.length === 0 || question.form.activity.rootQuorumOnly === true) return [];
  const asked = yield* askingPolicies(question, activeApprovals(question));
  if (asked === undefined || asked instanceof Fault) return [];
  if (credentialId === undefined) return yield* findingEligible(asked, userIds);
  const members = () =>
    asked.members().map((user) => (userIds.includes(user.userId) ? using(user, credentialId) : user));
  return yield* findingEligible({ ...asked, members }, userIds);
}

function using(user: UserFacts, credentialId: string): UserFacts {
  return { ...user, credentials: user.credentials.filter(({ id }) => id === credentialId) };
}

/** A proposer may always take its own back. */
export function mayReject(question: Question, userId: string): boolean {
  return finish(findingRejecter(question, userId));
}

/** The same with pauses. */
export function* findingRejecter(question: Question, userId: string): Work<boolean> {
  return isOwn(question, userId) || (yield* findingApprovers(question, [userId])).length > 0;
}

function isOwn({ proposerId, pages }: Question, userId: string): boolean {
  return proposerId === userId && pages.members.users.has(userId);
}

/** What a user could do about a waiting activity now. */
export function rightsOf(question: Question, userId: string) {
  const has = activeApprovals(question).some((approval) => approval.userId === userId);
  const may = mayApprove(question, userId);
  return { canApprove: may && !has, canReject: may || isOwn(question, userId) };
}

/** A deleted user's approval does not count, nor one whose day is over. */
function activeApprovals({ pages, approvals, nowMs, acceptedAtMs }: Question): Approval[] {
  return approvals.filter(
    (approval) => isActive(approval, nowMs, acceptedAtMs) && pages.members.users.has(approval.userId),
  );
}

export const nothingWeighed: Weighed = { evaluations: [], explanations: [], view: 0 };

/**
 * What the engine is asked, with pauses; nothing where there is no policy. A payload that cannot be read is a fault of the request. What
 * is read of the activity on the way is kept, so that whoever asks about it again has it at once.
 */
export function* askingPolicies(
  question: Question,
  approvals: readonly Approval[],
): Work<PolicyQuestion | Fault | undefined> {
  const { pages, form, params, proposerId, nowMs } = question;
  const { members, policies } = pages;
  if (policies.size === 0) return undefined;
  try {
    return {
      policies: compiledPolicies(policies),
      views: yield* readingViews(activityFacts(question, form, params)),
      proposerId,
      approvers: approversOf(members, approvals),
      members: () => memberFacts(members),
      nowMs,
    };
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return error;
    throw error;
  }
}

type Verdict = { verdict: PolicyDecision["verdict"]; weighed: Weighed };

function* weighing(asked: PolicyQuestion | undefined): Work<Verdict> {
  if (asked === undefined) return { verdict: "none", weighed: nothingWeighed };
  const decision = yield* decidingPolicies(asked);
  yield;
  const { verdict, evaluations, view } = decision;
  const explanations = withinBounds(yield* explaining(asked, decision), evaluations);
  return { verdict, weighed: { evaluations, explanations, view } };
}

/** What a rejection came to: the policies that waited for more approvals are told no. Nothing where no policy was asked. */
export function* weighingRejection(question: Question): Work<Weighed | undefined> {
  const isAsked = question.form.activity.rootQuorumOnly !== true;
  const asked = isAsked ? yield* askingPolicies(question, activeApprovals(question)) : undefined;
  if (asked === undefined || asked instanceof Fault) return undefined;
  const { evaluations, explanations, view } = (yield* weighing(asked)).weighed;
  return { evaluations: evaluations.map(asRefused), explanations: explanations.map(asRefused), view };
}

function asRefused<T extends { outcome: Outcome }>(said: T): T {
  return said.outcome === "OUTCOME_REQUIRES_CONSENSUS" ? { ...said, outcome: "OUTCOME_REJECTED" } : said;
}

const noAllow = "No policies evaluated to outcome: Allow";

function denialOf({ evaluations }: Weighed): string {
  const denying = evaluations.filter(({ denies }) => denies).map(({ policyId }) => policyId);
  return `The following policies denied this action: ${denying.join(", ")}`;
}

function refuse(message: string, question: Question, weighed: Weighed): Decision {
  const isFullyExplained = shownOf(question, weighed).length === weighed.explanations.length;
  return { kind: "refuse", fault: refusal(message, question, weighed), weighed: { ...weighed, isFullyExplained } };
}

function refusal(message: string, question: Question, weighed = nothingWeighed): Fault {
  return new Fault("permission_denied", "You don't have sufficient permissions to take this action.", {
    details: [detailOf(message, question, weighed)],
  });
}

function shownOf({ pages }: Question, { evaluations, explanations }: Weighed): readonly PolicyExplanation[] {
  return decisive(explanations, evaluations, (policyId) => pages.policies.get(policyId)?.effect);
}

/** As published, and beside the list of outcomes why the policies that decided said so. The rest is kept, for who asks. */
function detailOf(message: string, question: Question, weighed: Weighed) {
  const { evaluations } = weighed;
  const shown = shownOf(question, weighed);
  const leftOut = evaluations.length - shown.length;
  return {
    "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
    message,
    policyEvaluations: evaluations.map(({ policyId, outcome }) => ({ policyId, outcome })),
    ...(shown.length > 0 && { explanations: shown, ...(leftOut > 0 && { explanationsLeftOut: leftOut }) }),
  };
}

const voteless =
  "this user has no vote on this activity; members of the root quorum have one, and so have users whom a policy names that the activity waits for";

/** The refusal of a vote. Where there are policies, it says what each of them waits for, or why it waits for nothing. */
export function* refusingVote(question: Question): Work<Fault> {
  const isAsked = question.form.activity.rootQuorumOnly !== true;
  const asked = isAsked ? yield* askingPolicies(question, activeApprovals(question)) : undefined;
  const { weighed } = yield* weighing(asked instanceof Fault ? undefined : asked);
  const why = "no policy that this activity waits for is about this user and this credential";
  return new Fault("permission_denied", `request not authorized: ${voteless}`, {
    errorCode: "REQUEST_NOT_AUTHORIZED",
    details: weighed.evaluations.length === 0 ? [] : [detailOf(why, question, weighed)],
  });
}

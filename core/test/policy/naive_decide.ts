/**
 * A decision over policies, worked out from the published table the slow way. For tests only; shares nothing with
 * core/src/policy.
 */
import { type Fields, naiveEvaluate, type Plain, type Scope, Wrong } from "./naive_evaluate.ts";
import { naiveParse, type Tree } from "./naive_parse.ts";

export type NaivePolicy = {
  effect: "EFFECT_ALLOW" | "EFFECT_DENY";
  consensus: string;
  condition: string;
  time: string;
};
/** `credentials` without the user's id. */
export type NaiveUser = { id: string; alias: string; email: string; tags: string[]; credentials: Fields[] };
export type NaiveView = { names: Fields; paramNames: readonly string[] };

export type NaiveQuestion = {
  policies: readonly NaivePolicy[];
  views: readonly NaiveView[];
  proposerId: string;
  approvals: readonly { user: NaiveUser; credential: Fields }[];
  /** In the order of their ids. */
  members: readonly NaiveUser[];
  now: Date;
};

export type NaiveEvaluation = { outcome: string; denies: boolean };
export type NaiveDecision = { verdict: string; evaluations: NaiveEvaluation[]; view: number };

/** Of several views the worst decides. */
export function naiveDecide(question: NaiveQuestion): NaiveDecision {
  const decisions = question.views.map((view, at) => decideView(question, view, at));
  for (const verdict of ["deny", "none", "consensus", "allow"]) {
    const found = decisions.find((decision) => decision.verdict === verdict);
    if (found !== undefined) return found;
  }
  return { verdict: "none", evaluations: [], view: 0 };
}

function decideView(question: NaiveQuestion, view: NaiveView, at: number): NaiveDecision {
  const evaluations = question.policies.map((policy) => evaluatePolicy(policy, question, view));
  const has = (outcome: string) => evaluations.some((evaluation) => evaluation.outcome === outcome);
  const isDenied = evaluations.some(({ denies }) => denies);
  const granted = has("OUTCOME_ALLOW") ? "allow" : has("OUTCOME_REQUIRES_CONSENSUS") ? "consensus" : "none";
  return { verdict: isDenied ? "deny" : granted, evaluations, view: at };
}

function evaluatePolicy(policy: NaivePolicy, question: NaiveQuestion, view: NaiveView): NaiveEvaluation {
  const names = namesIn(treeOf(policy.condition));
  if (names.some((name) => !isInVocabulary(name, view))) return { outcome: "OUTCOME_ERROR", denies: false };
  const condition = outcomeOf(policy.condition, view.names, question.now);
  const consensus = outcomeOf(policy.consensus, voices(question.approvals), question.now);
  const time = outcomeOf(policy.time, { time: { now: question.now } }, question.now);
  const all = [condition, consensus, time];
  const isDeny = policy.effect === "EFFECT_DENY";
  if (all.includes("error")) return { outcome: "OUTCOME_ERROR", denies: isDeny && !all.includes(false) };
  if (condition === false) return { outcome: "OUTCOME_DENY_IMPLICIT", denies: false };
  if (consensus === true && time === false) return { outcome: "OUTCOME_TIME_INACTIVE", denies: false };
  if (consensus === true) return { outcome: isDeny ? "OUTCOME_DENY_EXPLICIT" : "OUTCOME_ALLOW", denies: isDeny };
  const isOpen = !isDeny && time === true && isPolicyOpen(policy, question);
  return { outcome: isOpen ? "OUTCOME_REQUIRES_CONSENSUS" : "OUTCOME_DENY_IMPLICIT", denies: false };
}

const trees = new Map<string, Tree>();

function treeOf(source: string): Tree {
  const tree = trees.get(source) ?? (source === "" ? ["true"] : naiveParse(source));
  if (trees.size > 1_000) trees.clear();
  trees.set(source, tree);
  return tree;
}

function outcomeOf(source: string, names: Fields, now: Date): boolean | "error" {
  try {
    const value = naiveEvaluate(treeOf(source), [names], now);
    return typeof value === "boolean" ? value : "error";
  } catch (error) {
    if (error instanceof Wrong) return "error";
    throw error;
  }
}

/** Every path that begins with a name of the vocabulary, as far as its dots go. */
function namesIn(tree: Tree, hidden: readonly string[] = []): string[] {
  const path = pathOf(tree);
  if (path !== undefined) return hidden.includes(path.split(".")[0] ?? "") ? [] : [path];
  const [form, ...parts] = tree;
  const isEach = form === "all" || form === "any" || form === "filter";
  return parts.flatMap((part, i) => {
    if (!Array.isArray(part)) return [];
    return namesIn(part as Tree, isEach && i === 2 ? [...hidden, parts[1] as string] : hidden);
  });
}

function pathOf([form, ...parts]: Tree): string | undefined {
  if (form === "name") return parts[0] as string;
  const inner = form === "field" ? pathOf(parts[0] as Tree) : undefined;
  return inner === undefined ? undefined : `${inner}.${parts[1]}`;
}

/** Whether an activity of this kind has what the path begins with, with or without a value behind it. */
function isInVocabulary(path: string, { names, paramNames }: NaiveView): boolean {
  const [first = "", second = "", third = ""] = path.split(".");
  if (first === "activity") return second !== "params" || paramNames.includes(third);
  const space = names[first];
  if (space === undefined) return false;
  return ["eth", "solana", "bitcoin", "tron", "tempo"].includes(first) ? Object.hasOwn(space as Fields, second) : true;
}

/** `approvers` and `credentials`. */
function voices(approvals: NaiveQuestion["approvals"]): Fields {
  return {
    approvers: approvals.map(({ user }) => approverOf(user)),
    credentials: approvals.map(({ user, credential }) => ({ ...credential, user_id: user.id })),
  };
}

function approverOf({ id, alias, email, tags }: NaiveUser): Fields {
  return { id, alias, email, tags };
}

/** What a user says alone: with the credential it approved with or, before that, with any that it has. */
function voicesOfOne(userId: string, { approvals, members }: NaiveQuestion): Fields | undefined {
  const given = approvals.filter(({ user }) => user.id === userId);
  if (given.length > 0) return voices(given);
  const member = members.find(({ id }) => id === userId);
  return member && potential(member);
}

function potential(user: NaiveUser): Fields {
  const credentials = user.credentials.map((credential) => ({ ...credential, user_id: user.id }));
  return { approvers: [approverOf(user)], credentials };
}

function isPolicyOpen(policy: NaivePolicy, question: NaiveQuestion): boolean {
  return isRelevant(policy, question.proposerId, question) && isReachable(policy, question);
}

function isRelevant(policy: NaivePolicy, userId: string, question: NaiveQuestion): boolean {
  const alone = voicesOfOne(userId, question);
  return alone !== undefined && (countsAnyone(treeOf(policy.consensus), []) || isNamed(policy, alone));
}

/** Adds the others whom the policy is about, those whom a clause holds for first, until it is satisfied. */
function isReachable(policy: NaivePolicy, question: NaiveQuestion): boolean {
  const others = question.members.filter(({ id }) => !question.approvals.some(({ user }) => user.id === id));
  const named = others.filter((user) => isNamed(policy, potential(user)));
  const counted = countsAnyone(treeOf(policy.consensus), []) ? others.filter((user) => !named.includes(user)) : [];
  const sum = voices(question.approvals) as { approvers: Plain[]; credentials: Plain[] };
  for (const user of [...named, ...counted]) {
    const { approvers, credentials } = potential(user) as { approvers: Plain[]; credentials: Plain[] };
    sum.approvers.push(...approvers);
    sum.credentials.push(...credentials);
    if (outcomeOf(policy.consensus, sum, question.now) === true) return true;
  }
  return false;
}

function isVoices([form, name]: Tree, hidden: readonly string[]): boolean {
  return form === "name" && (name === "approvers" || name === "credentials") && !hidden.includes(name);
}

/** The list itself, or what filters and slices leave of it. */
function isFromVoices(tree: Tree, hidden: readonly string[]): boolean {
  const [form, of] = tree;
  return form === "filter" || form === "slice" ? isFromVoices(of as Tree, hidden) : isVoices(tree, hidden);
}

function countsAnyone(tree: Tree, hidden: readonly string[]): boolean {
  const [form, ...parts] = tree;
  if (form === "count" && isVoices(parts[0] as Tree, hidden)) return true;
  return parts.some((part, i) => {
    if (!Array.isArray(part)) return false;
    const isBody = i === 2 && (form === "all" || form === "any" || form === "filter");
    return countsAnyone(part as Tree, isBody ? [...hidden, parts[1] as string] : hidden);
  });
}

/** Whether a clause holds for the only user there is, with all its credentials or with one of them. */
function isNamed(policy: NaivePolicy, alone: Fields): boolean {
  const tree = treeOf(policy.consensus);
  const each = (alone.credentials as Plain[]).map((credential) => ({ ...alone, credentials: [credential] }));
  return [alone, ...each].some((names) => holdsInside(tree, [names], []));
}

function tried<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof Wrong) return undefined;
    throw error;
  }
}

const never = new Date(0);

/** Looks for a clause that holds: the inside of a loop over voices, or a comparison with one picked by its place. */
function holdsInside(tree: Tree, scope: Scope, hidden: readonly string[]): boolean {
  const [form, ...parts] = tree;
  if (form === "all" || form === "any" || form === "filter") {
    const [of, binder, body] = parts as [Tree, string, Tree];
    const items = tried(() => naiveEvaluate(of, scope, never));
    const isAboutVoices = isFromVoices(of, hidden);
    for (const item of Array.isArray(items) ? items : []) {
      const inside = [{ [binder]: item }, ...scope];
      const value = tried(() => naiveEvaluate(body, inside, never));
      if ((isAboutVoices && value === true) || holdsInside(body, inside, [...hidden, binder])) return true;
      // A loop ends at its first error.
      if (typeof value !== "boolean") break;
    }
    if (holdsInside(of, scope, hidden)) return true;
  } else if (parts.some((part) => Array.isArray(part) && holdsInside(part as Tree, scope, hidden))) return true;
  const isVerdict = ["==", "!=", "<", "<=", ">", ">=", "in", "all", "any"].includes(form);
  return isVerdict && picksVoice(tree, hidden) && tried(() => naiveEvaluate(tree, scope, never)) === true;
}

/** Whether a place of `approvers` or `credentials` stands right in this part, and not in a smaller one that has a verdict. */
function picksVoice(tree: Tree, hidden: readonly string[]): boolean {
  const [form, ...parts] = tree;
  if (form === "at" && isFromVoices(parts[0] as Tree, hidden)) return true;
  const inner = form === "all" || form === "any" || form === "filter" ? [parts[0]] : parts;
  return inner.some((part) => {
    if (!Array.isArray(part)) return false;
    const isSmaller = ["==", "!=", "<", "<=", ">", ">=", "in", "all", "any"].includes(part[0] as string);
    return !isSmaller && picksVoice(part as Tree, hidden);
  });
}

/** Whether this user's approval would count in a policy that waits, or that is satisfied and about its proposer. */
export function naiveIsEligible(question: NaiveQuestion, userId: string): boolean {
  const decisions = question.views.map((view, at) => decideView(question, view, at));
  if (decisions.some(({ verdict }) => verdict === "deny" || verdict === "none")) return false;
  return decisions.some(({ evaluations }) =>
    question.policies.some((policy, i) => {
      const outcome = evaluations[i]?.outcome;
      if (outcome !== "OUTCOME_REQUIRES_CONSENSUS" && outcome !== "OUTCOME_ALLOW") return false;
      if (outcome === "OUTCOME_ALLOW" && !isRelevant(policy, question.proposerId, question)) return false;
      return isRelevant(policy, userId, question);
    }),
  );
}

/** What one evaluation stands on: the facts, the names bound on the way, and how much work is left. */
import type { Approver, ConditionFacts, UserFacts } from "../facts/facts.ts";
import { Instant, type Value } from "../values/values.ts";

/** A step is one node evaluated, or one element visited. Ordinary expressions take some dozens. */
export const maxSteps = 100_000;

/**
 * All policies of one decision together have so many, trying out who could still approve included. Whoever decides does one thing at
 * a time: a thousand policies that are each as dear as can be would keep everybody else waiting for minutes.
 */
export const maxDecisionSteps = 500_000;

/** What is left of the steps that several evaluations share. */
export class Allowance {
  left: number;

  constructor(steps: number) {
    this.left = steps;
  }
}

/** Users and credentials, as the names `approvers` and `credentials` show them. */
export type Voices = { readonly approvers: readonly Value[]; readonly credentials: readonly Value[] };

/** Why a value that is there cannot be used, or that it is not there. */
export class Unusable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** One for each view of an activity. Expressions may share it, one after the other. */
export class Scope {
  readonly facts: ConditionFacts | undefined;
  readonly approvers: readonly Value[];
  readonly credentials: readonly Value[];
  readonly now: Instant;
  /** What paths such as `eth.tx.to` lead to, once asked for: a hundred policies that name one look it up once. */
  readonly pathValues: (Value | undefined)[] = [];
  /** The elements that `all`, `any` and `filter` are at, by nesting. */
  readonly elements: Value[] = [];
  /** Below zero, this evaluation has no value any more. */
  stepsLeft = 0;
  readonly allowance: Allowance;

  constructor(
    facts: ConditionFacts | undefined,
    { approvers, credentials }: Voices,
    nowMs: number,
    allowance = new Allowance(Number.POSITIVE_INFINITY),
  ) {
    this.allowance = allowance;
    this.facts = facts;
    this.approvers = approvers;
    this.credentials = credentials;
    this.now = new Instant(nowMs);
  }
}

/** Gives the scope the steps of one evaluation, of which it takes so many at once. Whether there are as many; if not, none are left. */
export function grant(scope: Scope, atOnce: number): boolean {
  const { allowance } = scope;
  const { left } = allowance;
  scope.stepsLeft = (left < maxSteps ? left : maxSteps) - atOnce;
  if (scope.stepsLeft >= 0) return true;
  allowance.left = -1;
  return false;
}

/** Takes one step off what all evaluations share, for work that is none of them. Whether it was there. */
export function spendShared(allowance: Allowance): boolean {
  if (allowance.left <= 0) return false;
  allowance.left -= 1;
  return true;
}

/** Takes what an evaluation used off what all of them share. */
export function settle<T>(scope: Scope, result: T): T {
  const { allowance } = scope;
  const granted = allowance.left < maxSteps ? allowance.left : maxSteps;
  allowance.left -= granted - scope.stepsLeft;
  return result;
}

/** Whether the work still fits. */
export function spend(scope: Scope, steps: number): boolean {
  scope.stepsLeft -= steps;
  return scope.stepsLeft >= 0;
}

/** Approvals as they are: each user once, however often it appears, and a credential for each approval. */
export function voicesOf(approvals: readonly Approver[]): Voices {
  const approvers: Value[] = [];
  const credentials: Value[] = [];
  for (const [at, { user, credential }] of approvals.entries()) {
    if (!isAmong(user, approvals, at)) approvers.push(toApprover(user));
    credentials.push(toCredential(user, credential));
  }
  return { approvers, credentials };
}

function isAmong({ userId }: UserFacts, approvals: readonly Approver[], before: number): boolean {
  for (let i = 0; i < before; i += 1) if (approvals[i]?.user.userId === userId) return true;
  return false;
}

/** Somebody who may yet approve, with any of its credentials. */
export function potentialVoice(user: UserFacts): Voices {
  return {
    approvers: [toApprover(user)],
    credentials: user.credentials.map((credential) => toCredential(user, credential)),
  };
}

function toApprover({ userId, userTags, userEmail, userName }: UserFacts): Value {
  return { id: userId, tags: userTags, email: userEmail ?? "", alias: userName };
}

function toCredential({ userId }: UserFacts, credential: Approver["credential"]): Value {
  if ("isDeleted" in credential) {
    const { id, type } = credential;
    return { id, user_id: userId, type, credential_id: undefined, public_key: undefined };
  }
  const { id, type, credentialId, publicKey } = credential;
  return { id, user_id: userId, type, credential_id: credentialId ?? "", public_key: publicKey };
}

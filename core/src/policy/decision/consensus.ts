/** Whether more approvals could satisfy a policy, and whose. What is hopeless is refused at once instead of left pending. */

import { type Allowance, potentialVoice, Scope, type Voices, voicesOf } from "../evaluation/scope.ts";
import type { Approver, UserFacts } from "../facts/facts.ts";
import type { CompiledPolicy } from "./compiled_policy.ts";

/** Those who have approved, and those who could. */
export class Electorate {
  readonly proposerId: string;
  readonly approvals: readonly Approver[];
  readonly voices: Voices;
  /** Trying out who could still approve is worth no more work than the decision itself; beyond that it counts as hopeless. */
  readonly allowance: Allowance;
  readonly #listMembers: () => readonly UserFacts[];
  readonly #approved: ReadonlySet<string>;
  readonly #potential = new Map<UserFacts, Voices>();
  #members: readonly UserFacts[] | undefined;

  constructor(
    proposerId: string,
    approvals: readonly Approver[],
    listMembers: () => readonly UserFacts[],
    allowance: Allowance,
  ) {
    this.allowance = allowance;
    this.proposerId = proposerId;
    this.approvals = approvals;
    this.voices = voicesOf(approvals);
    this.#approved = new Set(approvals.map(({ user }) => user.userId));
    this.#listMembers = listMembers;
  }

  /** Listed once, and only if somebody asks. */
  get members(): readonly UserFacts[] {
    this.#members ??= this.#listMembers();
    return this.#members;
  }

  hasApproved({ userId }: UserFacts): boolean {
    return this.#approved.has(userId);
  }

  /** What somebody who may yet approve would say: the same to every policy. */
  potentialOf(user: UserFacts): Voices {
    let voice = this.#potential.get(user);
    if (voice === undefined) {
      voice = potentialVoice(user);
      this.#potential.set(user, voice);
    }
    return voice;
  }

  /** What this user says alone: with the credential of its approval, or before that with any it has. */
  findVoice(userId: string): Voices | undefined {
    if (this.#approved.has(userId)) return voicesOf(this.approvals.filter(({ user }) => user.userId === userId));
    const member = this.members.find((user) => user.userId === userId);
    return member && this.potentialOf(member);
  }
}

/** Whether the policy's consensus is about this user. */
export function isRelevant({ relevance }: CompiledPolicy, electorate: Electorate, userId: string): boolean {
  const voice = electorate.findVoice(userId);
  return voice !== undefined && (relevance.countsAnyone || relevance.isNamed(voice, electorate.allowance));
}

/** Only then may the activity wait under this policy. */
export function isAboutProposer(policy: CompiledPolicy, electorate: Electorate): boolean {
  return isRelevant(policy, electorate, electorate.proposerId);
}

/** Whether the proposer may wait for others: the policy is about the proposer, and enough others could agree. */
export function isOpen(policy: CompiledPolicy, electorate: Electorate): boolean {
  return isAboutProposer(policy, electorate) && isReachable(policy, electorate);
}

/** Adds the others one at a time and asks after each: not every expression that is true once stays so with more approvers. */
function isReachable(policy: CompiledPolicy, electorate: Electorate): boolean {
  const approvers = [...electorate.voices.approvers];
  const credentials = [...electorate.voices.credentials];
  const scope = new Scope(undefined, { approvers, credentials }, 0, electorate.allowance);
  for (const voice of othersIn(policy, electorate)) {
    approvers.push(...voice.approvers);
    credentials.push(...voice.credentials);
    if (policy.consensus.evaluate(scope) === true) return true;
    if (electorate.allowance.left <= 0) return false;
  }
  return false;
}

/**
 * In the order of ids, but those whom a clause is about before those who are only counted: two of a team, and nobody
 * else, is reached through the team.
 */
function othersIn({ relevance }: CompiledPolicy, electorate: Electorate): readonly Voices[] {
  const named: Voices[] = [];
  const counted: Voices[] = [];
  for (const user of electorate.members) {
    // With nothing left to try them out, whoever could agree is not found.
    if (electorate.allowance.left <= 0) return [];
    if (electorate.hasApproved(user)) continue;
    const voice = electorate.potentialOf(user);
    if (relevance.isNamed(voice, electorate.allowance)) named.push(voice);
    else if (relevance.countsAnyone) counted.push(voice);
  }
  return [...named, ...counted];
}

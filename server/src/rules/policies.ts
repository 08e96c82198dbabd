/** An organization's policies as the engine takes them. What does not change is compiled once. */
import { type CompiledPolicy, compilePolicy } from "@keystead/core/policy/decision/compiled_policy.ts";
import type { IdentifiedPolicy } from "@keystead/core/policy/decision/decide.ts";
import type { Approver, UserFacts } from "@keystead/core/policy/facts/facts.ts";
import type { Work } from "@keystead/core/work.ts";
import { createAside } from "../state/aside.ts";
import { credentialFactsOf } from "../state/credentials.ts";
import type { Approval, Policy, User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import type { PoliciesPage } from "../state/pages.ts";

// Entities and pages are immutable and pass from state to state, so each is compiled once, however many activities meet it.
const compiled = createAside<Policy, CompiledPolicy>();
const listed = createAside<PoliciesPage, readonly IdentifiedPolicy[]>();

/**
 * All policies in the order of their ids. Each was checked when it was created; one that did not compile any more would stop
 * every decision that policies have a part in, rather than be left out.
 */
export function compiledPolicies(page: PoliciesPage): readonly IdentifiedPolicy[] {
  let policies = listed.get(page);
  if (policies === undefined) {
    policies = [...page.values()]
      .map((policy) => ({ policyId: policy.policyId, policy: compiledOf(policy) }))
      .sort((a, b) => (a.policyId < b.policyId ? -1 : 1));
    listed.set(page, policies);
  }
  return policies;
}

/**
 * Compiles what of a page is not compiled yet, with a pause after each policy: half a megabyte of them would take the signer a third of
 * a second. What does not compile is met, and told, by whoever needs it.
 */
export function* compilingPolicies(page: PoliciesPage): Work<void> {
  if (page.size === 0 || listed.get(page) !== undefined) return;
  for (const policy of page.values()) {
    if (compiled.get(policy) !== undefined) continue;
    try {
      compiledOf(policy);
    } catch {
      return;
    }
    yield;
  }
}

/** Refuses a policy whose expressions are not ones that can be evaluated. */
export function compiledOf(policy: Policy): CompiledPolicy {
  let known = compiled.get(policy);
  if (known === undefined) {
    known = compilePolicy(policy);
    compiled.set(policy, known);
  }
  return known;
}

/** A policy with the expressions of another, which are not compiled again for it. */
export function withExpressionsOf(policy: Policy, other: Policy): Policy {
  const { effect, condition, consensus, time } = other;
  const changed = { ...policy, effect, condition, consensus, time };
  compiled.set(changed, compiledOf(other));
  return changed;
}

const facts = createAside<User, UserFacts>();

/** A user as `approvers` shows it. */
export function userFacts(user: User): UserFacts {
  let known = facts.get(user);
  if (known === undefined) {
    const { userId, userName, userEmail, userTags } = user;
    const credentials = credentialFactsOf(user);
    known = { userId, userName, ...(userEmail !== undefined && { userEmail }), userTags, credentials };
    facts.set(user, known);
  }
  return known;
}

/** Whoever approves and is still there, with the credential that was used. */
export function approversOf({ users }: MembersPage, approvals: readonly Approval[]): Approver[] {
  const approvers: Approver[] = [];
  for (const approval of approvals) {
    const user = users.get(approval.userId);
    if (user === undefined) continue;
    const known = userFacts(user);
    approvers.push({ user: known, credential: credentialOf(known, approval) });
  }
  return approvers;
}

/**
 * An approval outlives its credential, and so does the credential's type: a session that is ended would otherwise stop being one, and
 * a policy that denies sessions would no longer apply to what it approved. Nothing is made up for what was not kept.
 */
function credentialOf(user: UserFacts, { credentialId, credentialType }: Approval): Approver["credential"] {
  const known = user.credentials.find(({ id }) => id === credentialId);
  // Whoever proved a contact instead of a key approves without one, and so do the people that a simulation supposes.
  if (credentialId === user.userId) return { id: credentialId, type: credentialType ?? "", publicKey: "" };
  return known ?? { id: credentialId, type: credentialType, isDeleted: true };
}

const members = createAside<MembersPage, readonly UserFacts[]>();

/** Everybody, in the order of their ids. */
export function memberFacts(page: MembersPage): readonly UserFacts[] {
  let known = members.get(page);
  if (known === undefined) {
    known = [...page.users.values()].map(userFacts).sort((a, b) => (a.userId < b.userId ? -1 : 1));
    members.set(page, known);
  }
  return known;
}

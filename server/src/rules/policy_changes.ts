/** What creating, changing and deleting policies agree on. */
import { Fault } from "@keystead/core/fault.ts";
import { mapWithPauses, type Work } from "@keystead/core/work.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { foldName } from "../fields/names.ts";
import type { PolicyParams } from "../fields/policies.ts";
import type { Policy } from "../state/entities.ts";
import type { PoliciesPage } from "../state/pages.ts";
import { compiledOf } from "./policies.ts";

export function getPolicy(page: PoliciesPage, organizationId: string, policyId: string): Policy {
  const policy = page.get(policyId);
  if (policy === undefined) {
    throw new Fault("not_found", `unable to find policy ${policyId} in organization ${organizationId}`);
  }
  return policy;
}

/** The policies that these parameters describe, in their order: all of them, or none. */
export function* newPolicies(
  page: PoliciesPage,
  drafts: readonly PolicyParams[],
  context: ActivityContext,
): Work<Policy[]> {
  checkLimit("policies", page.size + drafts.length, context);
  checkBytes(page, drafts, context);
  const taken = namesOf(page.values());
  return yield* mapWithPauses(drafts, ({ policyName, effect, consensus, condition, time, notes }) => {
    const policy = checkedPolicy({
      policyId: context.newId(),
      policyName,
      effect,
      consensus: consensus ?? "",
      condition: condition ?? "",
      time: time ?? "",
      notes: notes ?? "",
      createdAtMs: context.nowMs,
      updatedAtMs: context.nowMs,
    });
    refuseTaken(taken, policyName);
    taken.set(foldName(policyName), policyName);
    return policy;
  });
}

/** The policy as it is, if its expressions are ones that can be evaluated. Compiled once: the page will hold this very object. */
export function checkedPolicy(policy: Policy): Policy {
  compiledOf(policy);
  return policy;
}

/** A changed policy, in the place of the one that it was. One that grows no longer is never too long. */
export function replacedPolicy(
  page: PoliciesPage,
  before: Policy,
  policy: Policy,
  context: Pick<ActivityContext, "limits" | "parentId">,
): Policy {
  const growth = bytesOf(policy) - bytesOf(before);
  if (growth > 0) checkLimit("policyBytes", bytesIn(page) + growth, context);
  return checkedPolicy(policy);
}

type Expressions = Partial<Record<"condition" | "consensus" | "time", string | null | undefined>>;

function checkBytes(page: PoliciesPage, drafts: readonly Expressions[], context: ActivityContext): void {
  const added = drafts.reduce((sum, draft) => sum + bytesOf(draft), 0);
  if (added > 0) checkLimit("policyBytes", bytesIn(page) + added, context);
}

function bytesIn(page: PoliciesPage): number {
  return page.values().reduce((sum, policy) => sum + bytesOf(policy), 0);
}

/** Of its expressions, which is what compiling it takes its time from. */
function bytesOf({ condition, consensus, time }: Expressions): number {
  return [condition, consensus, time].reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
}

/** Names are how people tell policies apart, so no two may look the same. A policy may keep its own. */
export function refuseTakenPolicyName(page: PoliciesPage, policyName: string, except: string): void {
  refuseTaken(namesOf(page.values().filter(({ policyId }) => policyId !== except)), policyName);
}

/** The same for several new policies, none of which may have the name of another either. */
export function refuseTakenPolicyNames(page: PoliciesPage, policyNames: Iterable<string>): void {
  const taken = namesOf(page.values());
  for (const policyName of policyNames) {
    refuseTaken(taken, policyName);
    taken.set(foldName(policyName), policyName);
  }
}

function namesOf(policies: Iterable<Policy>): Map<string, string> {
  return new Map(Iterator.from(policies).map(({ policyName }) => [foldName(policyName), policyName]));
}

function refuseTaken(taken: ReadonlyMap<string, string>, policyName: string): void {
  const holder = taken.get(foldName(policyName));
  if (holder !== undefined) {
    throw new Fault("invalid_argument", `policy label must be unique: \`${holder}\` exists`);
  }
}

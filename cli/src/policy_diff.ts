/** What must change for an organization's policies to be those of a file. Policies are told apart by name. */
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { printable } from "./printable.ts";

/** A policy of the organization. */
export type StoredPolicy = {
  policyId: string;
  policyName: string;
  effect: WrittenPolicy["effect"];
  consensus: string;
  condition: string;
  time: string;
  notes: string;
};

type Field = "policyName" | "effect" | "consensus" | "condition" | "time" | "notes";

export type PolicyUpdate = { stored: StoredPolicy; changed: Readonly<Partial<Record<Field, string>>> };

export type PolicyDiff = {
  create: readonly WrittenPolicy[];
  update: readonly PolicyUpdate[];
  /** Those of the organization that the file does not have. */
  surplus: readonly StoredPolicy[];
  same: number;
};

export function diffPolicies(written: readonly WrittenPolicy[], stored: readonly StoredPolicy[]): PolicyDiff {
  const unmatched = new Map(stored.map((policy) => [keyOf(policy.policyName), policy]));
  const create: WrittenPolicy[] = [];
  const update: PolicyUpdate[] = [];
  for (const policy of written) {
    const own = unmatched.get(keyOf(policy.policyName));
    unmatched.delete(keyOf(policy.policyName));
    if (own === undefined) create.push(policy);
    else update.push({ stored: own, changed: changesOf(own, policy) });
  }
  const changed = update.filter((one) => Object.keys(one.changed).length > 0);
  return { create, update: changed, surplus: [...unmatched.values()], same: update.length - changed.length };
}

/** The server takes no two names that differ in letter case or form alone, so a new spelling is a new name of the same policy. */
export function keyOf(policyName: string): string {
  return policyName.normalize("NFKC").toLowerCase();
}

/** An expression that the file leaves out is an empty one; notes that it leaves out are left alone. */
function changesOf(stored: StoredPolicy, policy: WrittenPolicy): PolicyUpdate["changed"] {
  const { policyName, effect, consensus = "", condition = "", time = "", notes = stored.notes } = policy;
  const wanted: Record<Field, string> = { policyName, effect, consensus, condition, time, notes };
  return Object.fromEntries(Object.entries(wanted).filter(([field, value]) => stored[field as Field] !== value));
}

/** The difference as lines: `+` is new, `~` changes, `-` goes. */
export function diffLines({ create, update, surplus, same }: PolicyDiff, { prune }: { prune: boolean }): string[] {
  return [
    ...create.flatMap((policy) => [`+ ${titleOf(policy)}`, ...expressionLines(policy)]),
    ...update.flatMap(({ stored, changed }) => [
      `~ ${titleOf(stored)}`,
      ...Object.entries(changed).flatMap(([field, value]) => [
        `    - ${field}: ${printable(stored[field as Field])}`,
        `    + ${field}: ${printable(value)}`,
      ]),
    ]),
    ...surplus.flatMap((policy) =>
      prune
        ? [`- ${titleOf(policy)}`, ...expressionLines(policy)]
        : [`! ${titleOf(policy)} is not in the file and stays in force; --prune deletes it`],
    ),
    `${create.length} to create, ${update.length} to change, ${prune ? surplus.length : 0} to delete, ${same} as they are`,
  ];
}

function titleOf({ policyName, effect }: WrittenPolicy | StoredPolicy): string {
  return `${effect.replace("EFFECT_", "")} "${printable(policyName)}"`;
}

function expressionLines(policy: WrittenPolicy | StoredPolicy): string[] {
  return (["consensus", "condition", "time"] as const).flatMap((field) =>
    (policy[field] ?? "") === "" ? [] : [`    ${field}: ${printable(policy[field] ?? "")}`],
  );
}

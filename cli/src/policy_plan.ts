/** The activities that make an organization's policies those of a file, in an order that opens nothing on the way. */
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import type { Client } from "@keystead/sdk";
import type { PolicyDiff, PolicyUpdate, StoredPolicy } from "./policy_diff.ts";
import { plural, printable } from "./printable.ts";

type Effect = StoredPolicy["effect"];

/** One activity. Its parameters are kept beside the call, so that one like it can be found among those that wait. */
export type PlannedActivity = {
  path: "create_policies" | "update_policy" | "delete_policies";
  parameters: object;
  /** "create 2 DENY policies", and the same when it is done. */
  todo: string;
  done: string;
  run(client: Client): Promise<unknown>;
};

/** The server takes no more policies in one activity, and no larger body than 1 MiB. */
const maxCreated = 100;
const maxCreatedBytes = 512 * 1024;
const maxDeleted = 1_000;

/**
 * Between two steps the organization is neither what it was nor what it will be, and it may stay so for days when a step
 * needs approvals. So denials come into force first, then what the file no longer permits goes, then what it permits
 * comes, and denials that it no longer has go last.
 */
export function planOf({ create, update, surplus }: PolicyDiff, { prune }: { prune: boolean }): PlannedActivity[] {
  const created = (effect: Effect) => creations(create.filter((policy) => policy.effect === effect));
  const deleted = (effect: Effect) => (prune ? deletions(surplus.filter((policy) => policy.effect === effect)) : []);
  const becomes = (effect: Effect) => update.filter((one) => effectAfter(one) === effect);
  // What stops being a denial is as good as deleted.
  const [ends, stays] = split(becomes("EFFECT_ALLOW"), ({ stored }) => stored.effect === "EFFECT_DENY");
  return [
    ...created("EFFECT_DENY"),
    ...becomes("EFFECT_DENY").map(change),
    ...deleted("EFFECT_ALLOW"),
    ...created("EFFECT_ALLOW"),
    ...stays.map(change),
    ...ends.map(change),
    ...deleted("EFFECT_DENY"),
  ];
}

function effectAfter({ stored, changed }: PolicyUpdate): string {
  return changed.effect ?? stored.effect;
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function creations(policies: readonly WrittenPolicy[]): PlannedActivity[] {
  return groupsOf(policies, maxCreated, maxCreatedBytes).map((group) => {
    const parameters = { policies: group.map((policy) => ({ ...policy })) };
    const run = (client: Client) => client.createPolicies(parameters);
    return { path: "create_policies", parameters, ...words("create", group), run };
  });
}

function deletions(policies: readonly StoredPolicy[]): PlannedActivity[] {
  return groupsOf(policies, maxDeleted, Number.POSITIVE_INFINITY).map((group) => {
    const parameters = { policyIds: group.map(({ policyId }) => policyId) };
    const run = (client: Client) => client.deletePolicies(parameters);
    return { path: "delete_policies", parameters, ...words("delete", group), run };
  });
}

function change({ stored, changed }: PolicyUpdate): PlannedActivity {
  const { policyName, effect, consensus, condition, time, notes } = changed;
  const parameters = {
    policyId: stored.policyId,
    ...(policyName === undefined ? {} : { policyName }),
    ...(effect === undefined ? {} : { policyEffect: effect as Effect }),
    ...(consensus === undefined ? {} : { policyConsensus: consensus }),
    ...(condition === undefined ? {} : { policyCondition: condition }),
    ...(time === undefined ? {} : { time }),
    ...(notes === undefined ? {} : { policyNotes: notes }),
  };
  const name = `"${printable(stored.policyName)}"`;
  const run = (client: Client) => client.updatePolicy(parameters);
  return { path: "update_policy", parameters, todo: `change ${name}`, done: `changed ${name}`, run };
}

/** All policies of a group have one effect. */
function words(
  verb: "create" | "delete",
  group: readonly { effect: Effect }[],
): Pick<PlannedActivity, "todo" | "done"> {
  const effect = group[0]?.effect.replace("EFFECT_", "") ?? "";
  const what = plural(group.length, `${effect} policy`, `${effect} policies`);
  return { todo: `${verb} ${what}`, done: `${verb}d ${what}` };
}

/** In their order, in as few groups as the limits allow. */
function groupsOf<T>(items: readonly T[], most: number, mostBytes: number): T[][] {
  const groups: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item));
    const last = groups.at(-1);
    if (last === undefined || last.length === most || bytes + size > mostBytes) {
      groups.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return groups;
}

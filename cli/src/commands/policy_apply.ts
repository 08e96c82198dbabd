import { createInterface } from "node:readline/promises";
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { allowsEverything } from "@keystead/core/policy/decision/open_policy.ts";
import { type Activity, type Client, KeysteadError } from "@keystead/sdk";
import { type CommandContext, type Flags, UsageError } from "../command.ts";
import { diffLines, diffPolicies, keyOf, type PolicyDiff, type StoredPolicy } from "../policy_diff.ts";
import { policyErrors } from "../policy_errors.ts";
import { readPolicyFile } from "../policy_files.ts";
import { unknownIds } from "../policy_ids.ts";
import { type PlannedActivity, planOf } from "../policy_plan.ts";
import { explainRefusal } from "../policy_refusal.ts";
import { findWaiting, waitingChanges } from "../policy_waiting.ts";
import { policyWarnings } from "../policy_warnings.ts";
import { plural, printable } from "../printable.ts";
import { openSession } from "../profile.ts";
import { approveCommand } from "../waiting.ts";
import { isOpen } from "../warnings/open_texts.ts";

export async function policyApply(context: CommandContext): Promise<number> {
  const { args: paths } = context;
  if (paths.length === 0) throw new UsageError("policy apply needs a file of policies");
  const { yes = false, prune = false, check = false } = context.flags;
  if (yes && check) throw new UsageError("--check changes nothing and --yes does: one of them");
  const written = await readAll(paths);
  const session = await openSession(context.flags);
  const { client } = session;
  const diff = diffPolicies(written, (await client.listPolicies()).policies);
  for (const line of await unknownIds(client, written)) console.error(`keystead: ${line}`);
  for (const policy of [...written, ...(prune ? [] : diff.surplus)].filter(isKnownOpen)) {
    console.error(`keystead: warning: "${printable(policy.policyName)}" ${allowsEverything}`);
  }
  console.log(diffLines(diff, { prune }).join("\n"));
  const steps = planOf(diff, { prune });
  const waiting = await waitingChanges(client);
  const strangers = listUnrelatedWaiting(waiting, steps);
  if (check) return isSame(diff) && strangers === 0 ? 0 : 1;
  if (steps.length === 0) return 0;
  if (!yes && !(await isConfirmed())) {
    console.error("keystead: nothing was changed; --yes changes without asking");
    return 1;
  }
  return explainRefusal(session, () => takeAll(client, steps, waiting, context.flags));
}

/** A server that is newer than this program may have policies whose words it does not know. */
function isKnownOpen(policy: WrittenPolicy | StoredPolicy): boolean {
  try {
    return isOpen(policy);
  } catch {
    return false;
  }
}

/** Nothing to create, to change or to delete, whether or not this apply would delete. */
function isSame({ create, update, surplus }: PolicyDiff): boolean {
  return create.length + update.length + surplus.length === 0;
}

/** The policies of all files. Nothing is applied unless all of it can be. */
async function readAll(paths: readonly string[]): Promise<readonly WrittenPolicy[]> {
  const files = new Map<string, readonly WrittenPolicy[]>();
  const fileOf = new Map<string, string>();
  for (const path of paths) {
    const policies = await readPolicyFile(path);
    for (const { policyName } of policies) {
      const other = fileOf.get(keyOf(policyName));
      if (other !== undefined) throw new Error(`"${printable(policyName)}" is in ${other} and in ${path}`);
    }
    for (const { policyName } of policies) fileOf.set(keyOf(policyName), path);
    files.set(path, policies);
  }
  const named = paths.join(" ");
  const errors = [...files].flatMap(([path, policies]) => policyErrors(path, policies));
  if (errors.length > 0) {
    console.log(errors.flat().join("\n"));
    throw new Error(`${plural(errors.length, "error")} in ${named}; nothing was changed`);
  }
  const warnings = [...files].flatMap(([path, policies]) => policyWarnings(path, policies)).length;
  if (warnings > 0) console.error(`keystead: ${plural(warnings, "warning")}; see: policy check ${named}`);
  return [...files.values()].flat();
}

/** What waits and is not of these files will change the organization when it is approved. Gives how many there are. */
function listUnrelatedWaiting(waiting: readonly Activity[], steps: readonly PlannedActivity[]): number {
  const own = new Set(steps.map((step) => findWaiting(waiting, step)));
  const strangers = waiting.filter((one) => !own.has(one));
  for (const activity of strangers)
    console.log(`! ${printable(`${activity.type} ${activity.id}`)} waits for approvals and is not part of this apply`);
  return strangers.length;
}

/**
 * The order of the steps is worth something only if each is done before the next begins. So the first that is not done
 * ends it, and whoever runs it again goes on from what there is then.
 */
async function takeAll(
  client: Client,
  steps: readonly PlannedActivity[],
  waiting: readonly Activity[],
  flags: Flags,
): Promise<number> {
  for (const [i, step] of steps.entries()) {
    const stop = (how: string) => {
      console.log([`${how}: ${step.todo}`, ...steps.slice(i + 1).map(({ todo }) => `not begun: ${todo}`)].join("\n"));
      return `keystead: stopped after ${i} of ${plural(steps.length, "step")}`;
    };
    const earlier = findWaiting(waiting, step);
    try {
      const activity = earlier ?? (await waitingAfter(step.run(client)));
      if (activity === undefined) {
        console.log(step.done);
        continue;
      }
      const head = stop(
        earlier === undefined ? "waits for approvals" : `waits since ${printable(earlier.createdAt)}, not sent again`,
      );
      console.error(`${head}; ${howToApprove(activity, flags)}; then run this again`);
      return 1;
    } catch (error) {
      console.error(`${stop("not done")}; fix the cause and run this again`);
      throw error;
    }
  }
  return 0;
}

/** Undefined when the activity is completed. */
async function waitingAfter(call: Promise<unknown>): Promise<Activity | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    const activity = error instanceof KeysteadError ? error.activity : undefined;
    if (activity?.status === "ACTIVITY_STATUS_CONSENSUS_NEEDED") return activity;
    throw error;
  }
}

/** The approval of whoever asked counts for a day like all others, and may be due again. */
function howToApprove({ fingerprint, canApprove }: Activity, flags: Flags): string {
  const who = canApprove ? "you can approve it" : "another user approves it";
  const command = approveCommand(fingerprint, flags, canApprove ? "same user" : "another user");
  return `${who} with: ${command} (or reject_activity)`;
}

/** Without a terminal there is nobody to ask. */
async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question("Change the organization's policies? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}

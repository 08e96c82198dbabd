/** What to say of an activity that waits for approvals: on what it waits, and how another user approves it. */
import type { Client } from "@keystead/sdk";
import type { Flags } from "./command.ts";
import { printable } from "./printable.ts";

/** The exit code of a request whose activity waits: not done, and not failed. */
export const waitsExitCode = 4;

export type Waiting = { id: string; fingerprint: string };

/** Who is to approve: the user of this request again, or another one. */
export type WhoApproves = "same user" | "another user";

/**
 * A command to paste. Address and organization are those of this request. The key of another user is never the one of
 * this request, so the command asks for its file: pasted unchanged, it must not vote with a key that happens to be here.
 */
export function approveCommand(fingerprint: string, flags: Flags, approver: WhoApproves): string {
  const { url, organization, profile } = flags;
  const keyFile = approver === "another user" ? "FILE" : flags["api-key-file"];
  const options = [
    ...(approver === "another user" || profile === undefined ? [] : ["--profile", profile]),
    ...(url === undefined ? [] : ["--url", url]),
    ...(organization === undefined ? [] : ["--organization", organization]),
    ...(keyFile === undefined ? [] : ["--api-key-file", keyFile]),
  ];
  const vote = JSON.stringify({ fingerprint });
  return ["npx keystead request approve_activity", `'${vote}'`, ...options].join(" ");
}

export async function waitingLines(client: Client, activity: Waiting, flags: Flags): Promise<string[]> {
  const command = approveCommand(activity.fingerprint, flags, "another user");
  return [
    `keystead: the activity waits for approvals: ${printable(activity.fingerprint)}`,
    ...(await reasonsOf(client, activity)),
    `  another user approves it, with a key of their own: ${printable(command)}`,
  ];
}

/** The policies that wait are kept with the last vote. This is for comfort: a user who may not read them does without. */
async function reasonsOf(client: Client, { id }: Waiting): Promise<string[]> {
  try {
    const { policyEvaluations: votes } = await client.getPolicyEvaluations({ activityId: id });
    const last = votes.at(-1)?.policyEvaluations ?? [];
    const waiting = new Set(
      last.filter(({ outcome }) => outcome === "OUTCOME_REQUIRES_CONSENSUS").map(({ policyId }) => policyId),
    );
    if (waiting.size === 0) return ["  it needs more approvals by members of the root quorum"];
    const { policies } = await client.listPolicies();
    const names = policies.filter(({ policyId }) => waiting.has(policyId)).map(({ policyName }) => `"${policyName}"`);
    return names.length === 0
      ? []
      : [`  it needs the approvals that its policy asks for: ${printable(names.join(", "))}`];
  } catch {
    return [];
  }
}

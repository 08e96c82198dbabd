import type { Timestamp } from "@keystead/sdk";
import { type CommandContext, refuseArguments, UsageError } from "../command.ts";
import { type ExplainedPolicy, indented, reportLines } from "../policy_report.ts";
import { plural, printable } from "../printable.ts";
import { openSession } from "../profile.ts";
import { profileLineOf } from "../session_scope.ts";

export async function policyExplain(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [activityId] = context.args;
  if (activityId === undefined) throw new UsageError("policy explain needs the id of an activity");
  const { client } = await openSession(context.flags);
  const { activity } = await client.getActivity({ activityId });
  const { policyEvaluations: votes } = await client.getPolicyEvaluations({ activityId });
  const { policies } = await client.listPolicies();
  const titles = new Map(policies.map(({ policyId, policyName, effect }) => [policyId, { policyName, effect }]));
  // Rejected at once, it failed; rejected by a vote, it had waited.
  const isRefused = activity.failure !== undefined;
  const users = new Map(activity.votes.map(({ id, user, selection }) => [id, { name: user.userName, selection }]));
  console.log(`${activity.type} ${activity.id}: ${wordOf(activity.status, "ACTIVITY_STATUS_")}`);
  for (const { voteId, createdAt, policyEvaluations, details } of votes) {
    const { name, selection } = users.get(voteId) ?? { name: "somebody", selection: "voted on" };
    const count = plural(policyEvaluations.length, "policy", "policies");
    console.log(`${wordOf(selection, "VOTE_SELECTION_")} by ${printable(name)} at ${toText(createdAt)}: ${count}`);
    const all = policyEvaluations.map(({ policyId, outcome }): ExplainedPolicy => {
      const detail = details.find((one) => one.policyId === policyId);
      return { ...(detail ?? { outcome, observed: {} }), ...(titles.get(policyId) ?? { policyName: policyId }) };
    });
    const vote = activity.votes.find(({ id }) => id === voteId);
    const profile = await profileLineOf(client, vote);
    const why = () => whyNone(selection, activity.status, profile !== undefined);
    const lines = all.length === 0 ? [why()] : reportLines(all, { isRefused });
    console.log(indented([...lines, ...(profile === undefined ? [] : [profile])], "  ").join("\n"));
  }
  return 0;
}

/** What an empty list can mean: it is not kept which of these it was. */
function whyNone(selection: string, status: string, hasProfile: boolean): string {
  if (selection === "VOTE_SELECTION_REJECTED") return "a rejection asks no policy";
  if (selection !== "VOTE_SELECTION_APPROVED") return "no policy was asked";
  const others = "there was no policy, or a right of the user decided";
  if (status === "ACTIVITY_STATUS_CONSENSUS_NEEDED" || status === "ACTIVITY_STATUS_REJECTED")
    return `no policy was asked: ${hasProfile ? "it is outside the session's scope, " : ""}it is for the root quorum, ${others}`;
  return `no policy was asked: the root quorum decided, ${others}`;
}

/** Votes are told in seconds. */
function toText({ seconds }: Timestamp): string {
  return new Date(Number(seconds) * 1_000).toISOString().replace(".000", "");
}

function wordOf(text: string, prefix: string): string {
  return text.replace(prefix, "").replaceAll("_", " ").toLowerCase();
}

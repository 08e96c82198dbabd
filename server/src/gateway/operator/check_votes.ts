/** Votes as rows keep them, against the stamp that a leaf has of each. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { evidenceOfVote, isSameEvidence, keptEvidence, parseEvidence } from "../../evidence/evidence.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import type { Tables } from "../../store/tables.ts";
import type { StoredVote } from "../../views/activity_view.ts";

/** What is wrong with the vote that a leaf tells of: undefined when a row has it as it was given. */
export function voteOf(
  leaf: Leaf,
  activity: Tables["activities"],
  later: readonly Tables["votes"][],
): string | undefined {
  const [stamp] = leaf.stamps;
  if (stamp === undefined) return undefined;
  const isIt = (vote: StoredVote) => isVoteOf(vote, leaf, stamp, activity.body);
  const first = parse<StoredVote[]>(activity.votes);
  const own = later.some((row) => {
    const vote = parse<StoredVote>(row.vote);
    return vote !== undefined && vote.id === row.vote_id && row.created_at_ms === leaf.timeMs && isIt(vote);
  });
  if (own || (Array.isArray(first) && first.some(isIt))) return undefined;
  return `votes on ${activity.activity_id}: the vote of user ${uuidFromBytes(stamp.userId)} is missing or was changed`;
}

function parse<T>(json: string): T | undefined {
  try {
    return JSON.parse(json) as T;
  } catch {
    return undefined;
  }
}

function isVoteOf(vote: StoredVote, leaf: Leaf, stamp: Leaf["stamps"][number], body: Uint8Array): boolean {
  const { message, user, selection, createdAtMs } = vote;
  const isRejection = leaf.event === "REJECTED" && equalBytes(leaf.outcome, sha256(""));
  try {
    const sent = keptEvidence(parseEvidence(nodeCurves, evidenceOfVote(vote)));
    return (
      isSameEvidence(sent, stamp) &&
      user.userId === uuidFromBytes(stamp.userId) &&
      equalBytes(sha256(message ?? body), stamp.body) &&
      createdAtMs === leaf.timeMs &&
      selection === (isRejection ? "VOTE_SELECTION_REJECTED" : "VOTE_SELECTION_APPROVED")
    );
  } catch {
    return false;
  }
}

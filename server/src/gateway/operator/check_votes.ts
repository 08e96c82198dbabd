/** Votes as rows keep them, against the evidence that a leaf has of each. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import type { LeafEvidence } from "@keystead/core/log/leaf_evidence.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { isSameEvidence, keptOfVote } from "../../evidence/evidence.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import type { Tables } from "../../store/tables.ts";
import type { StoredVote } from "../../views/activity_view.ts";

/** What is wrong with the vote that a leaf tells of: undefined when a row has it as it was given. */
export function voteOf(
  leaf: Leaf,
  activity: Tables["activities"],
  /** Of the activity's body. */
  digest: Uint8Array,
  later: readonly Tables["votes"][],
): string | undefined {
  const [given] = leaf.evidence;
  if (given === undefined) return undefined;
  const isIt = (vote: StoredVote) => isVoteOf(vote, leaf, given, digest);
  const first = parse<StoredVote[]>(activity.votes);
  const own = later.some((row) => {
    const vote = parse<StoredVote>(row.vote);
    return vote !== undefined && vote.id === row.vote_id && row.created_at_ms === leaf.timeMs && isIt(vote);
  });
  if (own || (Array.isArray(first) && first.some(isIt))) return undefined;
  return `votes on ${activity.activity_id}: the vote of user ${uuidFromBytes(given.userId)} is missing or was changed`;
}

function parse<T>(json: string): T | undefined {
  try {
    return JSON.parse(json) as T;
  } catch {
    return undefined;
  }
}

function isVoteOf(vote: StoredVote, leaf: Leaf, given: LeafEvidence, digest: Uint8Array): boolean {
  const { message, user, selection, createdAtMs } = vote;
  const isRejection = leaf.event === "REJECTED" && equalBytes(leaf.outcome, sha256(""));
  try {
    return (
      isSameEvidence(keptOfVote(nodeCurves, vote), given.content) &&
      user.userId === uuidFromBytes(given.userId) &&
      equalBytes(message === undefined ? digest : sha256(message), given.body) &&
      createdAtMs === leaf.timeMs &&
      selection === (isRejection ? "VOTE_SELECTION_REJECTED" : "VOTE_SELECTION_APPROVED")
    );
  } catch {
    return false;
  }
}

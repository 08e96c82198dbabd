/** What policies said about the votes on an activity, for readers. */
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

/** One vote, as JSON, and what policies said about it. Both are null when none was asked. */
export type EvaluatedVote = { vote: string; evaluations: Uint8Array | null; explanation: string | null };

const submissionOf = compiled("evaluated_submission", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("activities")
    .select(["votes", "evaluations", "explanation", "failure"])
    .where("organization_id", "=", organizationId)
    .where("activity_id", "=", activityId),
);

const votesOf = compiled("evaluated_votes", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("votes")
    .select(["vote", "evaluations", "explanation"])
    .where("organization_id", "=", organizationId)
    .where("activity_id", "=", activityId)
    .orderBy("created_at_ms")
    .orderBy("vote_id"),
);

/** Every vote on an activity, the submission's own first; undefined when there is no such activity. */
export async function findEvaluatedVotes(
  store: Store,
  organizationId: string,
  activityId: string,
): Promise<EvaluatedVote[] | undefined> {
  const [submission] = await submissionOf(store, organizationId, activityId);
  if (submission === undefined) return undefined;
  const { votes, evaluations, failure } = submission;
  const explanation = submission.explanation ?? (evaluations === null ? null : reasonsIn(failure));
  const own = (JSON.parse(votes) as object[]).map((vote) => ({ vote: JSON.stringify(vote), evaluations, explanation }));
  const later = await votesOf(store, organizationId, activityId);
  return [...own, ...later.map((row) => ({ ...row }))];
}

/** A submission that was refused has its reasons in its failure and nowhere else, if that tells all of them. */
function reasonsIn(failure: string | null): string | null {
  const { details = [] } = failure === null ? {} : (JSON.parse(failure) as { details?: { explanations?: unknown }[] });
  const explanations = details.find((detail) => detail.explanations !== undefined)?.explanations;
  return explanations === undefined ? null : JSON.stringify(explanations);
}

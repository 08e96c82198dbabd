/** The submission of a new activity, which may turn out to have been submitted before. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Caller } from "../../endpoints/define_query.ts";
import { sha256 } from "../../state/digest.ts";
import { findActivityByFingerprint } from "../../store/activities.ts";
import type { ActivityRecord } from "../../views/activity_view.ts";
import { waitingStatus } from "../../views/read_activity.ts";
import type { Submission } from "./execute.ts";
import { findKeyed, rememberKeyed } from "./idempotency.ts";
import type { StampedRequest } from "./stamped_request.ts";
import { authenticate, readReleased, submitterOf } from "./stored_answer.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";

/** `looksFirst`: whether it is looked for before the signer is asked. Later turns always look. */
export function newActivity(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  looksFirst: boolean,
): Submission {
  const hasLooked = (turn: number) => looksFirst || turn > 0;
  const look = async () => {
    const answer = await findRepeated(dependencies, request);
    if (answer !== undefined) return { answer };
    try {
      await request.signUp?.check();
    } catch (error) {
      // What it found may have been made by these very bytes, since it was looked for them.
      const made = await findRepeated(dependencies, request);
      if (made === undefined) throw error;
      return { answer: made };
    }
    return { request };
  };
  return {
    organizationId: request.organizationId,
    begin: (turn) => (hasLooked(turn) ? look() : { request }),
    async afterRefusal(error, turn) {
      // Another gateway may have been given the same bytes, and a contact is taken by what they have made.
      const looks = !hasLooked(turn) || (error instanceof Fault && error.code === "already_exists");
      const answer = looks ? await findRepeated(dependencies, request) : undefined;
      return answer === undefined ? { kind: "refused", error } : { kind: "done", value: answer };
    },
  };
}

/**
 * The answer to what was asked before: the same bytes, or the same request under the caller's idempotency key. None while
 * the activity waits for consensus and the caller's stamp would be a new approval of it.
 */
async function findRepeated(
  dependencies: SubmitDependencies,
  request: StampedRequest,
): Promise<ActivityRecord | undefined> {
  const { organizationId, keyed } = request;
  const own = toHex(sha256(request.body));
  let caller: Pick<Caller, "userId"> | undefined;
  let known: string | undefined;
  if (keyed !== undefined) {
    caller = await authenticate(dependencies, request, "former");
    known = await findKeyed(dependencies.store, organizationId, caller.userId, keyed);
  }
  const row = await findActivityByFingerprint(dependencies.store, organizationId, known ?? own);
  if (row === undefined) return undefined;
  caller ??= await submitterOf(dependencies, request, row);
  const { userId } = caller;
  const hasSentBody = row.fingerprint === own;
  const record = await readReleased(dependencies, organizationId, row, { userId, hasSentBody });
  const hasVoted = record.votes.some(({ user }) => user.userId === userId);
  if (record.row.status === waitingStatus && known === undefined && !hasVoted) return undefined;
  // These bytes were answered before they came under a key: from now on the key stands for them. Not for a refusal: one that is sent
  // under a thousand keys would be a thousand rows that nobody counts.
  if (keyed !== undefined && known === undefined && record.row.failure === null) {
    await rememberKeyed(dependencies.store, organizationId, userId, keyed, row.fingerprint);
  }
  // The same bytes are answered as they were the first time, whatever their row shows.
  return hasSentBody ? { ...record, row: { ...record.row, body: request.body } } : record;
}

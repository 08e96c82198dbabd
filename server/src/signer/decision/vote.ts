/**
 * Votes are state: submitting for consensus, approving and rejecting change the pending page. A vote is verified once,
 * against the state of its moment; what it leads to is decided anew, on the state of now.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Work } from "@keystead/core/work.ts";
import { noSuchActivity } from "../../endpoints/known_faults.ts";
import { parseFingerprint } from "../../fields/fingerprint.ts";
import type { Prepared } from "../../frames/messages.ts";
import { findingApprovers, findingRejecter, refusingVote, weighingRejection } from "../../rules/authorise.ts";
import { checkApproval } from "../../rules/pending_limits.ts";
import { isActive } from "../../rules/votes.ts";
import { keptTypeOf } from "../../state/credentials.ts";
import { sha256 } from "../../state/digest.ts";
import { type Approval, type PendingActivity, put } from "../../state/entities.ts";
import type { Act, DecisionContext } from "./act.ts";
import { type Asked, readAsked } from "./asked.ts";
import { openBody } from "./body_boxes.ts";
import { decidingAct } from "./decided.ts";
import { changedRows } from "./line.ts";
import { complete, keepWaiting, refuse, reject } from "./outcome.ts";
import { questionOf } from "./question.ts";
import { findingScopeRefusal } from "./session_scope.ts";

export type Selection = "APPROVED" | "REJECTED";

/** A vote that names its target by fingerprint. The target's body comes with the frame and proves itself by its hash. */
export function* vote(
  context: DecisionContext,
  selection: Selection,
  { params, fingerprint: stamped }: Asked,
  target: Uint8Array | undefined,
): Work<Prepared[]> {
  const { fingerprint } = params as { fingerprint: string };
  const waiting = context.state.pages.pending.get(parseFingerprint(fingerprint) ?? "");
  if (waiting === undefined) throw noSuchActivity();
  const asked = readAsked(bodyOf(context, waiting, target));
  if (selection === "APPROVED") return yield* approve(context, waiting, asked, stamped);
  const act = toAct(context, waiting, asked, stamped);
  yield* checkingScope(act);
  const question = questionOf(act, waiting.approvals);
  if (!(yield* findingRejecter(question, context.caller.user.userId))) throw yield* refusingVote(question);
  return yield* reject({ ...act, weighed: yield* weighingRejection(question) });
}

/** The bytes of what waits. Where they hold a bearer value, what is stored, and so what comes here, is their box. */
function bodyOf(
  { signer, state: { organizationId } }: DecisionContext,
  { fingerprint, activityId }: PendingActivity,
  target: Uint8Array | undefined,
): Uint8Array {
  if (target !== undefined && toHex(sha256(target)) === fingerprint) return target;
  try {
    return openBody(signer, { organizationId, fingerprint: fromHex(fingerprint) }, target ?? new Uint8Array()).body;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw changedRows(organizationId, `the body of the activity that is voted on is missing: ${activityId}`);
  }
}

/**
 * The waiting body itself, stamped once more: an approval by whoever stamped it. Such a stamp has no time of its own, so
 * whoever keeps a copy could use it at any time. Each user therefore has one, and none counts after the submission's day:
 * it can neither renew an approval that is over nor be held back until it suits.
 */
export function* approveAgain(context: DecisionContext, waiting: PendingActivity, asked: Asked): Work<Prepared[]> {
  if (waiting.approvals.some(({ userId }) => userId === context.caller.user.userId)) throw hasApproved();
  const { acceptedAtMs } = context.signer.memory;
  if (!isActive({ atMs: waiting.createdAtMs }, context.nowMs, acceptedAtMs)) {
    const since = waiting.createdAtMs <= acceptedAtMs ? "before a database was restored" : "more than 24 hours ago";
    throw new Fault("failed_precondition", `this activity was submitted ${since}: approve it with approve_activity`);
  }
  return yield* approve(context, waiting, asked, asked.fingerprint);
}

function* approve(
  context: DecisionContext,
  waiting: PendingActivity,
  asked: Asked,
  stamped: Uint8Array,
): Work<Prepared[]> {
  const { caller, nowMs } = context;
  const { userId } = caller.user;
  const act = toAct(context, waiting, asked, stamped);
  yield* checkingScope(act);
  const asBefore = questionOf(act, waiting.approvals);
  const [approver] = yield* findingApprovers(asBefore, [userId], caller.credential.credentialId);
  if (approver === undefined) throw yield* refusingVote(asBefore);
  const others = waiting.approvals.filter((approval) => approval.userId !== userId);
  const earlier = waiting.approvals.find((approval) => approval.userId === userId);
  // A user has one vote; the same again changes nothing, unless the day of the first is over.
  if (earlier !== undefined && isActive(earlier, nowMs, context.signer.memory.acceptedAtMs)) throw hasApproved();
  const approvals = [...others, approvalOf(context)];
  yield;
  const { decision, decided } = yield* decidingAct(act, approvals);
  const weighed: Act = { ...act, weighed: decision.weighed, decided };
  if (decision.kind === "allow") return yield* complete(weighed, decision.grounds);
  if (decision.kind === "refuse") return yield* refuse(weighed, "REJECTED", decision.fault);
  if (decision.kind === "fail") return yield* refuse(weighed, "FAILED", decision.fault);
  const after = { ...waiting, approvals };
  checkApproval(context.state.pages, after, userId);
  return yield* keepWaiting(weighed, "VOTED", () => put("pendingActivity", after));
}

/** The caller's stamp as an approval of now. */
export function approvalOf({ caller, nowMs }: DecisionContext): Approval {
  const { userId } = caller.user;
  const { credentialId } = caller.credential;
  const credentialType = keptTypeOf(caller.credential);
  return { userId, credentialId, ...(credentialType !== undefined && { credentialType }), atMs: nowMs };
}

function toAct(context: DecisionContext, waiting: PendingActivity, asked: Asked, stamped: Uint8Array): Act {
  const { proposerId, createdAtMs } = waiting;
  const proposerKey = proposerKeyOf(context, waiting);
  return { ...context, asked, stamped, proposerId, proposerKey, createdAtMs, wasWaiting: true };
}

/** The key that the proposer's approval was given with, as long as it is the proposer's. */
function proposerKeyOf({ state }: DecisionContext, { proposerId, approvals }: PendingActivity): string | undefined {
  const approval = approvals.find(({ userId }) => userId === proposerId);
  const proposer = state.pages.members.users.get(proposerId);
  return proposer?.apiKeys.find(({ apiKeyId }) => apiKeyId === approval?.credentialId)?.publicKey;
}

/** A session whose scope does not allow the activity neither approves nor rejects it. What waits goes on waiting. */
function* checkingScope(act: Act): Work<void> {
  const outside = yield* findingScopeRefusal(act);
  if (outside !== undefined) throw outside;
}

function hasApproved(): Fault {
  return new Fault("already_exists", "this user has approved this activity already");
}

/**
 * Votes are state: submitting for consensus, approving and rejecting change the pending page. A vote is verified once,
 * against the state of its moment; what it leads to is decided anew, on the state of now.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { noSuchActivity } from "../endpoints/known_faults.ts";
import { parseFingerprint } from "../fields/fingerprint.ts";
import type { Prepared } from "../frames/messages.ts";
import { isActive, mayApprove, mayReject } from "../rules/votes.ts";
import { sha256 } from "../state/digest.ts";
import { type Approval, type PendingActivity, put } from "../state/entities.ts";
import { type Asked, readAsked } from "./asked.ts";
import { authorise } from "./authorise.ts";
import { type Act, complete, keepWaiting, refuse, reject, type Scene } from "./outcome.ts";

export type Selection = "APPROVED" | "REJECTED";

/** A vote that names its target by fingerprint. The target's body comes with the frame and proves itself by its hash. */
export function vote(
  scene: Scene,
  selection: Selection,
  { params, fingerprint: stamped }: Asked,
  target: Uint8Array | undefined,
): Prepared[] {
  const { fingerprint } = params as { fingerprint: string };
  const waiting = scene.state.pages.pending.get(parseFingerprint(fingerprint) ?? "");
  if (waiting === undefined) throw noSuchActivity();
  if (target === undefined || toHex(sha256(target)) !== waiting.fingerprint) {
    throw new Fault("failed_precondition", "the body of the activity that is voted on is missing");
  }
  const asked = readAsked(target);
  if (selection === "APPROVED") return approve(scene, waiting, asked, stamped);
  if (!mayReject(scene.state.pages.members, waiting, scene.caller.user.userId)) throw noVote();
  return reject(toAct(scene, waiting, asked, stamped));
}

/**
 * The waiting body itself, stamped once more: an approval by whoever stamped it. Such a stamp has no time of its own, so
 * whoever keeps a copy could use it at any time. Each user therefore has one, and none counts after the submission's day:
 * it can neither renew an approval that is over nor be held back until it suits.
 */
export function approveAgain(scene: Scene, waiting: PendingActivity, asked: Asked): Prepared[] {
  if (waiting.approvals.some(({ userId }) => userId === scene.caller.user.userId)) throw hasApproved();
  if (!isActive({ atMs: waiting.createdAtMs }, scene.nowMs)) {
    throw new Fault(
      "failed_precondition",
      "this activity was submitted more than 24 hours ago: approve it with approve_activity",
    );
  }
  return approve(scene, waiting, asked, asked.fingerprint);
}

function approve(scene: Scene, waiting: PendingActivity, asked: Asked, stamped: Uint8Array): Prepared[] {
  const { caller, nowMs, state } = scene;
  const { members } = state.pages;
  const { userId } = caller.user;
  if (!mayApprove(members, userId)) throw noVote();
  const others = waiting.approvals.filter((approval) => approval.userId !== userId);
  const earlier = waiting.approvals.find((approval) => approval.userId === userId);
  // A user has one vote; the same again changes nothing, unless the day of the first is over.
  if (earlier !== undefined && isActive(earlier, nowMs)) throw hasApproved();
  const approvals = [...others, approvalOf(scene)];
  const act = toAct(scene, waiting, asked, stamped);
  const { proposerId } = waiting;
  const { activity } = asked.form;
  const decision = authorise({
    members,
    activity,
    params: asked.params,
    proposerId,
    approvals,
    isWaiting: true,
    nowMs,
  });
  if (decision.kind === "allow") return complete(act, decision.grounds);
  if (decision.kind === "refuse") return refuse(act, "REJECTED", decision.fault);
  return keepWaiting(act, "VOTED", () => put("pendingActivity", { ...waiting, approvals }));
}

/** The caller's stamp as an approval of now. */
export function approvalOf({ caller, nowMs }: Scene): Approval {
  return { userId: caller.user.userId, credentialId: caller.apiKey.apiKeyId, atMs: nowMs };
}

function toAct(scene: Scene, waiting: PendingActivity, asked: Asked, stamped: Uint8Array): Act {
  const { proposerId, createdAtMs } = waiting;
  return { ...scene, asked, stamped, proposerId, createdAtMs, wasWaiting: true };
}

function hasApproved(): Fault {
  return new Fault("already_exists", "this user has approved this activity already");
}

function noVote(): Fault {
  return new Fault("permission_denied", "request not authorized: this user has no vote on this activity", {
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
}

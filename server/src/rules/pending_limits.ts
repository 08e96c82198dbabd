/**
 * Who may make the pending page longer, and by how much. Each proposal is paid for by its proposer and each approval by its
 * voter. A member of the root quorum pays from a budget of its own, which nobody else can use; all other users share one.
 * So neither they nor another member can keep a member from proposing and voting (docs/decisions/0033).
 */
import { Fault } from "@keystead/core/fault.ts";
import type { Limits } from "../endpoints/limits.ts";
import type { PendingActivity } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import type { PendingPage } from "../state/pages.ts";
import { rootMembers } from "./votes.ts";

/** What an activity without its approvals, and what one approval, take at most on the page. A test holds them against real ones. */
export const proposalBytes = 256;
export const approvalBytes = 192;

/** Of all who are not members of the root quorum together, those who were deleted included. */
export const othersBytes = 512 * 1024;

/** Of all members together, in equal shares. */
export const quorumBytes = 384 * 1024;

/** However many members there are: one proposal, and a few votes on those of others. */
const leastShare = proposalBytes + 3 * approvalBytes;

type PendingSources = { members: MembersPage; pending: PendingPage };

/** Refuses one more activity that waits when its proposer has no place or no bytes left for it. */
export function checkProposal({ members, pending }: PendingSources, proposal: PendingActivity, limits: Limits): void {
  const { proposerId } = proposal;
  const quorum = rootMembers(members);
  const isMember = quorum.includes(proposerId);
  const { pendingActivitiesPerRootUser: ofMember, pendingActivitiesPerUser: ofUser } = limits;
  // Whatever the operator chose, a quorum of several could do nothing without a place.
  const own = isMember ? Math.max(1, ofMember) : ofUser;
  const waiting = [...pending.values()];
  if (waiting.filter((each) => each.proposerId === proposerId).length >= own) {
    throw new Fault(
      "resource_exhausted",
      `user has reached its limit of ${own} activities that wait for consensus: ${ownAdvice}`,
    );
  }
  const ofOthers = limits.pendingActivitiesPerOrganization;
  if (!isMember && waiting.filter((each) => !quorum.includes(each.proposerId)).length >= ofOthers) {
    throw new Fault(
      "resource_exhausted",
      `organization has reached its limit of ${ofOthers} activities that wait for consensus, those of its root quorum not counted: ${advice}`,
    );
  }
  checkBytes(members, pending, proposal, proposerId);
}

/** Refuses one more approval of what goes on waiting when its voter has no bytes left for it. `after` is the activity with it. */
export function checkApproval({ members, pending }: PendingSources, after: PendingActivity, voterId: string): void {
  checkBytes(members, pending, after, voterId);
}

function checkBytes(members: MembersPage, pending: PendingPage, after: PendingActivity, payerId: string): void {
  const quorum = rootMembers(members);
  const isMember = quorum.includes(payerId);
  const pays = isMember ? (userId: string) => userId === payerId : (userId: string) => !quorum.includes(userId);
  const budget = isMember ? Math.max(leastShare, Math.floor(quorumBytes / quorum.length)) : othersBytes;
  const before = pending.get(after.fingerprint);
  const added = spent(after, pays) - (before === undefined ? 0 : spent(before, pays));
  if (added <= 0) return;
  const total = pending.values().reduce((sum, each) => sum + spent(each, pays), added);
  if (total <= budget) return;
  throw new Fault(
    "resource_exhausted",
    isMember
      ? `user has reached its limit of ${budget} bytes of waiting activities and approvals: ${ownAdvice}`
      : `organization has reached its limit of ${budget} bytes of waiting activities and approvals, those of its root quorum not counted: ${advice}`,
  );
}

/** What these payers have spent on one activity. */
function spent({ proposerId, approvals }: PendingActivity, pays: (userId: string) => boolean): number {
  const votes = approvals.reduce((count, { userId }) => count + (pays(userId) ? 1 : 0), 0);
  return (pays(proposerId) ? proposalBytes : 0) + votes * approvalBytes;
}

const advice = "some of them must be approved or rejected first";
const ownAdvice = "reject one of its own with reject_activity, or have it approved, first";

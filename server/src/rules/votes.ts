/** Whose vote on a waiting activity counts, and for how long. */
import type { Approval, PendingActivity } from "../state/entities.ts";
import type { MembersPage } from "../state/pages.ts";

/** How long an approval counts, from its own time. */
export const approvalMs = 24 * 3_600_000;

export function isActive({ atMs }: Pick<Approval, "atMs">, nowMs: number): boolean {
  return nowMs < atMs + approvalMs;
}

/** Members of the root quorum that exist. */
export function rootMembers({ users, rootQuorum }: MembersPage): string[] {
  return [...new Set(rootQuorum.userIds)].filter((userId) => users.has(userId));
}

/** Being named by the consensus is itself the permission to vote. */
export function mayApprove(members: MembersPage, userId: string): boolean {
  return rootMembers(members).includes(userId);
}

/** A proposer may always take its own back. */
export function mayReject(members: MembersPage, { proposerId }: PendingActivity, userId: string): boolean {
  return mayApprove(members, userId) || (proposerId === userId && members.users.has(userId));
}

/** What a user could do about a waiting activity now. */
export function rightsOf(members: MembersPage, waiting: PendingActivity, userId: string, nowMs: number) {
  const has = waiting.approvals.some((approval) => approval.userId === userId && isActive(approval, nowMs));
  return { canApprove: !has && mayApprove(members, userId), canReject: mayReject(members, waiting, userId) };
}

/** How long approvals count, and who the root quorum consists of. */
import type { Approval } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";

/** How long an approval counts, from its own time. */
export const approvalMs = 24 * 3_600_000;

/** `acceptedAtMs`: when the operator last accepted a database. What was approved before may have been executed in what was lost. */
export function isActive({ atMs }: Pick<Approval, "atMs">, nowMs: number, acceptedAtMs = 0): boolean {
  return nowMs < atMs + approvalMs && atMs > acceptedAtMs;
}

/** Members of the root quorum that exist. */
export function rootMembers({ users, rootQuorum }: MembersPage): string[] {
  return [...new Set(rootQuorum.userIds)].filter((userId) => users.has(userId));
}

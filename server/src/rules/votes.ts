/** How long approvals count, and who the root quorum consists of. */
import type { Approval } from "../state/entities.ts";
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

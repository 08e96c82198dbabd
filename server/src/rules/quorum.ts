/** The root quorum must always be able to act: enough members, each of whom can sign in for good. */
import { Fault } from "@keystead/core/fault.ts";
import type { RootQuorum, Settings, User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { hasCredential, hasLastingCredential, hasLastingKey, missingCredential } from "./credentials.ts";

export function checkQuorum(
  { threshold, userIds }: RootQuorum,
  users: ReadonlyMap<string, User>,
  settings: Settings,
): void {
  if (!Number.isInteger(threshold) || threshold < 1) {
    throw new Fault(
      "invalid_argument",
      "quorum threshold must be non-zero integer: how many of its users must approve, at least 1",
    );
  }
  const members = new Set(userIds);
  if (members.size === 0) throw quorumUsersMissing("name at least one user");
  for (const userId of members) {
    const user = users.get(userId);
    if (user === undefined) {
      throw quorumUsersMissing(`this organization has no user \`${userId}\`; create the user first, or name another`);
    }
    if (!hasLastingCredential(user, settings)) throw missingCredential(userId, user.userName);
  }
  if (threshold > members.size) {
    throw new Fault(
      "invalid_argument",
      `quorum threshold ${threshold} is larger than its ${members.size} user(s); name more users, or ask for fewer approvals`,
    );
  }
}

/** As published, and then what to do about it. */
export function quorumUsersMissing(why: string): Fault {
  return new Fault("invalid_argument", `quorum users missing: ${why}`);
}

type SignIn = { user: User; settings: Settings };

/**
 * Refuses to take a user's last way in. A member of the root quorum keeps one that lasts, because nobody stands above it to let
 * it in again; everybody else may live on expiring keys, which the quorum can renew.
 *
 * A contact does not make up for a member's last long-lived key, though it lets its owner sign in: whoever runs the mailbox or the
 * telephone network would then be a member of the quorum.
 */
export function refuseLockOut({ rootQuorum }: MembersPage, before: SignIn, after: SignIn, nowMs: number): void {
  const { userId } = after.user;
  const isRoot = rootQuorum.userIds.includes(userId);
  const suffices = ({ user, settings }: SignIn) =>
    isRoot ? hasLastingCredential(user, settings) : hasCredential(user, settings, nowMs);
  const losesKey = isRoot && hasLastingKey(before.user) && !hasLastingKey(after.user);
  if (losesKey || (suffices(before) && !suffices(after))) throw missingCredential(userId);
}

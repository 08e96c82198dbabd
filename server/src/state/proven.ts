/**
 * Which credentials are known to belong to this organization. A public key is registered without a proof that anybody holds it, so an
 * account is found by its key only where that key is proven: it came with the organization, which the parent or the operator stamped, or
 * it has stamped a change of this organization's state. A key that was deleted and added again has to prove itself again.
 */
import { withProven } from "./credentials.ts";
import { type Change, put, type User } from "./entities.ts";
import type { MembersPage } from "./members.ts";

/** The changes of an act, with the credential proven that stamped it, unless they take it away. */
export function withProvenCredential(
  page: MembersPage,
  changes: readonly Change[],
  userId: string,
  credentialId: string,
): readonly Change[] {
  return withChangedUser(page, changes, userId, (user) =>
    withProven(user, (credential) => credential.credentialId === credentialId),
  );
}

/** The changes of an act, with one more of this user, as it is after them. The same list where that changes nothing. */
export function withChangedUser(
  { users }: MembersPage,
  changes: readonly Change[],
  userId: string,
  changed: (user: User) => User,
): readonly Change[] {
  const last = changes.findLastIndex((change) => change.kind === "user" && userIdOf(change) === userId);
  const change = changes[last];
  const user = change === undefined ? users.get(userId) : userOf(change);
  if (user === undefined) return changes;
  const next = changed(user);
  if (next === user) return changes;
  const proving = put("user", next);
  return change === undefined ? [...changes, proving] : changes.with(last, proving);
}

type UserChange = Extract<Change, { kind: "user" }>;

function userIdOf(change: UserChange): string {
  return change.op === "put" ? change.value.userId : change.id;
}

function userOf(change: Change): User | undefined {
  return change.kind === "user" && change.op === "put" ? change.value : undefined;
}

/**
 * A page of format 1 has no mark. What came with the organization is told by its time: a birth gives the organization and all its keys
 * one and the same. The migration that fills the column `proven` reads it in the same way.
 */
export function withBirthKeysProven(
  { users, userTags, rootQuorum }: MembersPage,
  organizationCreatedAtMs: number,
): MembersPage {
  const marked = [...users].map(([userId, user]): [string, User] => {
    return [userId, withProven(user, ({ createdAtMs }) => createdAtMs === organizationCreatedAtMs)];
  });
  return { users: new Map(marked), userTags, rootQuorum };
}

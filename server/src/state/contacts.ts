/**
 * Contacts of users. Anyone who may change a user can write down any address, so an address says nothing by itself. A mark says that its
 * holder has shown to have it, for this user, and with what. A mark ends with its source, and with the contact.
 */
import { type ContactKind, comparableContact } from "@keystead/core/otp/otp_types.ts";
import type { Change, ContactMark, User } from "./entities.ts";
import type { MembersPage } from "./members.ts";

export type Contact = { readonly kind: ContactKind; readonly contact: string };

/** A contact with what verifies it. */
export type VerifiedContact = Contact & { readonly mark: ContactMark };

/** The fields of a user that hold a contact and its mark. */
const fields = {
  email: { contact: "userEmail", mark: "emailVerified" },
  phone: { contact: "userPhoneNumber", mark: "phoneVerified" },
} as const satisfies Record<ContactKind, { contact: keyof User; mark: keyof User }>;

export const contactKinds = ["email", "phone"] as const satisfies readonly ContactKind[];

export function hasContact(user: User, { kind, contact }: Contact): boolean {
  const own = user[fields[kind].contact];
  return own !== undefined && isSameContact({ kind, contact: own }, { kind, contact });
}

export function isSameContact(one: Contact, other: Contact): boolean {
  return (
    one.kind === other.kind && comparableContact(one.kind, one.contact) === comparableContact(other.kind, other.contact)
  );
}

export function hasVerifiedContact(user: User, contact: Contact): boolean {
  return user[fields[contact.kind].mark] !== undefined && hasContact(user, contact);
}

/**
 * The user with this contact marked; the same object where it is not the user's, or is marked by as much. An answered code replaces all
 * else: it lasts when an identity goes, and leads here where a mark of an earlier version gives way.
 */
export function withVerifiedContact(user: User, verified: VerifiedContact): User {
  const known = user[fields[verified.kind].mark];
  return known === undefined || weightOf(verified.mark) > weightOf(known) ? withMark(user, verified) : user;
}

function weightOf(mark: ContactMark): number {
  if (mark === true) return 0;
  return mark.by === "code" ? 2 : 1;
}

/** Whether a version that keeps what verifies a contact has marked this one. */
export function isMarkedNow(user: User, contact: Contact): boolean {
  return typeof user[fields[contact.kind].mark] === "object" && hasContact(user, contact);
}

/** The same with this mark in the place of any other. */
export function withMark(user: User, { mark, ...contact }: VerifiedContact): User {
  return hasContact(user, contact) ? { ...user, [fields[contact.kind].mark]: mark } : user;
}

/**
 * The marks that stay when a user's contacts change. Another spelling of the same contact keeps its mark: look-ups do not tell them apart.
 */
export function keptMarks(before: User, after: Pick<User, "userEmail" | "userPhoneNumber">): Partial<User> {
  const kept = contactKinds.flatMap((kind) => {
    const { contact: field, mark } = fields[kind];
    const contact = after[field];
    return contact !== undefined && hasVerifiedContact(before, { kind, contact }) ? [[mark, before[mark]]] : [];
  });
  return Object.fromEntries(kept);
}

/** The user without marks by identities that are the user's no more. */
export function withoutEndedMarks(user: User): User {
  const identities = new Set(user.oauthProviders?.map(({ providerId }) => providerId));
  const ended = contactKinds.flatMap((kind) => {
    const { mark: field } = fields[kind];
    const mark = user[field];
    return typeof mark === "object" && mark.by === "identity" && !identities.has(mark.providerId) ? [field] : [];
  });
  return Object.fromEntries(Object.entries(user).filter(([field]) => !ended.some((each) => each === field))) as User;
}

/** Who stands behind a mark: somebody who has the contact and a key, or the parent alone. */
export const markProofs = ["KEY", "WORD"] as const;

export type NewMark = Contact & { readonly userId: string; readonly proof: (typeof markProofs)[number] };

/** What the users of an organization have verified by these changes that they had not before, or by something else. */
export function newMarks(before: ReadonlyMap<string, User>, changes: readonly Change[]): NewMark[] {
  return changes.flatMap((change) => {
    if (change.op !== "put" || change.kind !== "user") return [];
    const user = change.value;
    const known = before.get(user.userId);
    return contactKinds.flatMap((kind): NewMark[] => {
      const { contact: field, mark: markField } = fields[kind];
      const [contact, mark] = [user[field], user[markField]];
      if (contact === undefined || mark === undefined) return [];
      if (known?.[markField] === mark && hasContact(known, { kind, contact })) return [];
      const isWord = mark === true || mark.by === "parent";
      return [{ userId: user.userId, kind, contact, proof: isWord ? "WORD" : "KEY" }];
    });
  });
}

/**
 * The users whom a contact speaks for: those who have it verified; where nobody has, and where `unverifiedToo`, those who have it at all.
 * So nobody who writes somebody else's address into a user of their own gets between that address and its owner.
 */
export function usersWithContact({ users }: MembersPage, contact: Contact, unverifiedToo: boolean): User[] {
  const holders = [...users.values()].filter((user) => hasContact(user, contact));
  const verified = holders.filter((user) => hasVerifiedContact(user, contact));
  return verified.length > 0 || !unverifiedToo ? verified : holders;
}

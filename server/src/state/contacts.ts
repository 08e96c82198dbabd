/**
 * Contacts of users. Whoever may change a user writes down any address, so an address says nothing by itself. It is verified once a token
 * for it was used for this user: then somebody has answered a code that was sent there. A changed contact is unverified again.
 */
import { type ContactKind, comparableContact } from "@keystead/core/otp/otp_types.ts";
import type { User } from "./entities.ts";
import type { MembersPage } from "./members.ts";

export type Contact = { readonly kind: ContactKind; readonly contact: string };

/** The fields of a user that hold a contact and its mark. */
const fields = {
  email: { contact: "userEmail", mark: "emailVerified" },
  phone: { contact: "userPhoneNumber", mark: "phoneVerified" },
} as const satisfies Record<ContactKind, { contact: keyof User; mark: keyof User }>;

export function hasContact(user: User, { kind, contact }: Contact): boolean {
  const own = user[fields[kind].contact];
  return own !== undefined && comparableContact(kind, own) === comparableContact(kind, contact);
}

export function hasVerifiedContact(user: User, contact: Contact): boolean {
  return user[fields[contact.kind].mark] === true && hasContact(user, contact);
}

/** The user with this contact marked; the same object where it is marked already, or is not the user's. */
export function withVerifiedContact(user: User, contact: Contact): User {
  const { mark } = fields[contact.kind];
  return user[mark] === true || !hasContact(user, contact) ? user : { ...user, [mark]: true };
}

/**
 * The marks that stay when a user's contacts change. Another spelling of the same contact keeps its mark: look-ups do not tell them apart.
 */
export function keptMarks(before: User, after: Pick<User, "userEmail" | "userPhoneNumber">): Partial<User> {
  const { userEmail, userPhoneNumber } = after;
  const isKept = (kind: ContactKind, contact: string | undefined) =>
    contact !== undefined && hasVerifiedContact(before, { kind, contact });
  return {
    ...(isKept("email", userEmail) && { emailVerified: true }),
    ...(isKept("phone", userPhoneNumber) && { phoneVerified: true }),
  };
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

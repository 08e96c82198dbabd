/** Whose contact it is. Sign-in by mail or text message is for the one user of an organization that has it. */
import { Fault } from "@keystead/core/fault.ts";
import { type ContactKind, comparableContact } from "@keystead/core/otp/otp_types.ts";
import type { User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { parseSearchedEmail } from "./contacts.ts";

const fields = { email: "userEmail", phone: "userPhoneNumber" } as const satisfies Record<ContactKind, keyof User>;

const words = { email: "e-mail address", phone: "phone number" } as const satisfies Record<ContactKind, string>;

/** As the user has it: messages go to that spelling, whatever the request wrote. */
export function contactOf(user: User, kind: ContactKind): string | undefined {
  return user[fields[kind]];
}

export function hasContact(user: User, kind: ContactKind, contact: string): boolean {
  const own = contactOf(user, kind);
  return own !== undefined && comparableContact(kind, own) === comparableContact(kind, contact);
}

/** Two users with one contact are told apart by nobody who reads it. */
export function getUserByContact(
  { users }: MembersPage,
  organizationId: string,
  kind: ContactKind,
  contact: string,
): { user: User; contact: string } {
  const [user, ...others] = [...users.values()].filter((each) => hasContact(each, kind, contact));
  const own = user && contactOf(user, kind);
  if (user === undefined || own === undefined) {
    throw new Fault("not_found", `no user of organization ${organizationId} has the ${words[kind]} \`${contact}\``);
  }
  if (others.length > 0) {
    throw new Fault(
      "failed_precondition",
      `several users of organization ${organizationId} have the ${words[kind]} \`${contact}\`; give each one of its own`,
      { errorCode: "CREDENTIAL_CONFLICT" },
    );
  }
  return { user, contact: own };
}

export function getUserByEmail(members: MembersPage, organizationId: string, email: string) {
  const address = parseSearchedEmail(email);
  if (address === undefined) throw new Fault("invalid_argument", "missing parameter: email");
  return getUserByContact(members, organizationId, "email", address);
}

/** Whose contact it is. Sign-in by mail or text message is for the one user of an organization that has it. */
import { Fault } from "@keystead/core/fault.ts";
import type { ContactKind } from "@keystead/core/otp/otp_types.ts";
import { usersWithContact } from "../state/contacts.ts";
import type { User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { parseSearchedEmail } from "./contacts.ts";

const fields = { email: "userEmail", phone: "userPhoneNumber" } as const satisfies Record<ContactKind, keyof User>;

const words = { email: "e-mail address", phone: "phone number" } as const satisfies Record<ContactKind, string>;

/** As the user has it: messages go to that spelling, whatever the request wrote. */
export function contactOf(user: User, kind: ContactKind): string | undefined {
  return user[fields[kind]];
}

/**
 * Two users with one contact are told apart by nobody who reads it. But who has it verified comes before all who only wrote it down: else
 * any of these would keep its holder from signing in.
 */
export function getUserByContact(
  members: MembersPage,
  organizationId: string,
  kind: ContactKind,
  contact: string,
): { user: User; contact: string } {
  const [user, ...others] = usersWithContact(members, { kind, contact }, true);
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

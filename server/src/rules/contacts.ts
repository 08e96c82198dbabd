/** What counts as an e-mail address and a phone number. Proving them is sign-in's business. */
import { Fault } from "@keystead/core/fault.ts";

// A local part without spaces, quotes, brackets or what cannot be seen, and a domain of at least two labels. The mailbox
// has the last word.
const emailPattern =
  /^[^\s\p{Cc}\p{Cf}@"(),:;<>[\]\\]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/iu;
const phonePattern = /^\+[1-9][0-9]{6,14}$/;

/** The address as given: comparing without case is the reader's part. Undefined for none. */
export function parseEmail(text: string | null | undefined): string | undefined {
  if (text === undefined || text === null || text === "") return undefined;
  if (!emailPattern.test(text)) {
    throw new Fault("invalid_argument", `invalid email address: \`${text}\``, { errorCode: "INVALID_EMAIL" });
  }
  return text;
}

export function parsePhoneNumber(text: string | null | undefined): string | undefined {
  if (text === undefined || text === null || text === "") return undefined;
  if (!phonePattern.test(text)) {
    throw new Fault("invalid_argument", `invalid phone number: \`${text}\` is not in E.164 form, like +15551234567`);
  }
  return text;
}

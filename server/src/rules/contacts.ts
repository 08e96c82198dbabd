/** What counts as an e-mail address and a phone number. Proving them is sign-in's business. */
import { Fault } from "@keystead/core/fault.ts";

// A local part without spaces, quotes, brackets or what cannot be seen, and a domain of at least two labels of at most 63
// characters each. The mailbox has the last word. Letters are written out: with the flags `iu` the Kelvin sign is a `k` and the long s an
// `s`, and mail for such a domain goes to the one with the plain letters.
const emailPattern =
  /^[^\s\p{Cc}\p{Cf}@"(),:;<>[\]\\]+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]$/u;
const localPartPattern = /^[^\s\p{Cc}\p{Cf}@"(),:;<>[\]\\]+@[^@]*$/u;
const phonePattern = /^\+[1-9][0-9]{6,14}$/;

// RFC 5321 §4.5.3.1: 64 octets before the @, and 256 for a path, which has two brackets around the address. A domain of
// more than 253 does not fit beside a local part.
const maxLocalPartBytes = 64;
const maxEmailBytes = 254;
const utf8 = new TextEncoder();

/** The address as given: comparing without case is the reader's part. Undefined for none. */
export function parseEmail(text: string | null | undefined): string | undefined {
  const address = parseSearchedEmail(text);
  if (address === undefined) return undefined;
  const flaw = flawOf(address);
  if (flaw !== undefined) throw invalidEmail(address, `: ${flaw}`);
  return address;
}

/** An address to look for. Earlier versions stored some that are refused today, and those must be found, too. */
export function parseSearchedEmail(text: string | null | undefined): string | undefined {
  if (text === undefined || text === null || text === "") return undefined;
  if (!emailPattern.test(text)) throw invalidEmail(text, `: ${formFlawOf(text)}`);
  return text;
}

/** Which part of the address has not the form of one. */
function formFlawOf(text: string): string {
  const hasLocalPart = localPartPattern.test(text);
  return hasLocalPart ? "the part after the @ must be a domain such as example.com" : "write it like name@example.com";
}

/** What no mail server takes, though it has the form of an address. */
function flawOf(address: string): string | undefined {
  const localPart = address.slice(0, address.indexOf("@"));
  if (localPart.startsWith(".") || localPart.endsWith(".") || localPart.includes("..")) {
    return "the part before the @ must not begin or end with a dot or have two in a row";
  }
  if (utf8.encode(localPart).length > maxLocalPartBytes) {
    return `the part before the @ is longer than ${maxLocalPartBytes} bytes`;
  }
  return utf8.encode(address).length > maxEmailBytes ? `it is longer than ${maxEmailBytes} bytes` : undefined;
}

function invalidEmail(text: string, why: string): Fault {
  return new Fault("invalid_argument", `invalid email address: \`${text}\`${why}`, { errorCode: "INVALID_EMAIL" });
}

export function parsePhoneNumber(text: string | null | undefined): string | undefined {
  if (text === undefined || text === null || text === "") return undefined;
  if (!phonePattern.test(text)) {
    throw new Fault("invalid_argument", `invalid phone number: \`${text}\` is not in E.164 form, like +15551234567`);
  }
  return text;
}

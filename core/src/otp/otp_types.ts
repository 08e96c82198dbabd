/** How a code reaches its user, and by which contact users are found afterwards. WhatsApp is not offered. */
export const otpTypes = {
  OTP_TYPE_EMAIL: { contact: "email" },
  OTP_TYPE_SMS: { contact: "phone" },
} as const;

export type OtpType = keyof typeof otpTypes;

export type ContactKind = (typeof otpTypes)[OtpType]["contact"];

export function isOtpType(text: string): text is OtpType {
  return Object.hasOwn(otpTypes, text);
}

/**
 * The one spelling by which contacts are compared and counted: e-mail without case. They are stored and shown as given. Only ASCII letters
 * have a case here, as in the databases: Unicode maps some others, such as the Kelvin sign, to ASCII letters, and whoever owns the mailbox
 * with the sign in its name would pass for the owner of the one with the letter.
 */
export function comparableContact(kind: ContactKind, contact: string): string {
  return kind === "email" ? contact.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : contact;
}

/** Country codes, which have one to three digits (ITU-T E.164), and zeros behind them. */
const zerosOfNumber =
  /^(\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[035789]|9[679])[0-9]))0+/;

/**
 * The spelling by which codes for a contact are counted. It is wider than the one that contacts are compared by: someone who answers two
 * spellings with one mailbox or telephone gets no more codes by writing both. Mail servers fold letters outside ASCII, each in its own way,
 * and a gateway for text messages may drop the zero that is dialled inside a country. Neither makes two contacts one: another server tells
 * the letters apart, and in some countries the zero belongs to the number.
 */
export function countedContact(kind: ContactKind, contact: string): string {
  if (kind === "phone") return contact.replace(zerosOfNumber, "$1");
  const folded = contact.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  return folded.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
}

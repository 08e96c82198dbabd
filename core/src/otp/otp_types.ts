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

/**
 * What is kept of a one-time code: whom it was sent to, its form, and when it begins and ends. Never the code, which derives from its id.
 * Like every record it is made once, never changes and carries the signer's mark. What can change about a code, that is who has tried it
 * and whether it is spent, is in the signer's memory and in the database's claims.
 */
import type { CodeForm } from "@keystead/core/otp/one_time_code.ts";
import { type OtpType, otpTypes } from "@keystead/core/otp/otp_types.ts";

export type OtpCodeRecord = {
  kind: "otpCode";
  organizationId: string;
  otpId: string;
  otpType: OtpType;
  /** As it was given. */
  contact: string;
  form: CodeForm;
  /** Of a code that signs this user in by `otp_auth`, and is good for nothing else; others prove a contact by `verify_otp`. */
  userId?: string;
  /** Its client was given a target bundle, so answers come encrypted. */
  isEncrypted: boolean;
  startedAtMs: number;
  endsAtMs: number;
};

const sandboxContacts = { email: "user@example.com", phone: "+19999999999" } as const;

/** Whether it is one of the codes that are always the same where the operator has allowed that for development. */
export function isSandboxCode({
  otpType,
  contact,
  form,
}: Pick<OtpCodeRecord, "otpType" | "contact" | "form">): boolean {
  const isSandboxContact = contact === sandboxContacts[otpTypes[otpType].contact];
  return isSandboxContact && form.alphabet === "numeric" && form.length === 6;
}

export const sandboxCode = "000000";

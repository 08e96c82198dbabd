/** Settings of one-time codes. They go to the signer alone, with its orders: what a code is, and who may answer it how, is its decision. */
import { Refusal } from "./refusal.ts";

export type CodeSettings = {
  /** Two contacts have a code that everybody knows. */
  hasSandboxCodes: boolean;
  /** Codes that were started with a target bundle may be answered in the plain. */
  allowsPlainAnswers: boolean;
};

type Environment = Record<string, string | undefined>;

export function parseCodeSettings(env: Environment): CodeSettings {
  const hasSandboxCodes = isSet(env, "KEYSTEAD_DEV_OTP", "fixed");
  // Whoever sends real messages has real users, and a code that everybody knows would let anybody verify these contacts.
  const sent = ["SMTP_URL", "KEYSTEAD_SMS_URL"].find((name) => env[name]);
  if (hasSandboxCodes && sent !== undefined) {
    throw new Refusal(`KEYSTEAD_DEV_OTP=fixed is for development and cannot be set beside ${sent}`, 2);
  }
  return { hasSandboxCodes, allowsPlainAnswers: isSet(env, "KEYSTEAD_OTP_PLAINTEXT", "allow") };
}

function isSet(env: Environment, name: string, word: string): boolean {
  const value = env[name];
  if (value && value !== word) throw new Refusal(`${name} takes only the word ${word}`, 2);
  return value === word;
}

/** Said at every start with a code that everybody knows. */
export const sandboxWarning =
  "WARNING: KEYSTEAD_DEV_OTP=fixed: the code for user@example.com and +19999999999 is 000000 (six digits). " +
  "Anybody can verify these contacts. Never set it where real users sign in";

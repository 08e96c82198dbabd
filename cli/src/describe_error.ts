import { KeysteadError } from "@keystead/sdk";
import { PolicyRefusal } from "./policy_refusal.ts";

/** One line for the terminal. */
export function describeError(error: unknown): string {
  if (error instanceof PolicyRefusal) return describeError(error.cause);
  if (error instanceof KeysteadError) {
    const kind = [`HTTP ${error.status}`, ...(error.errorCode === "" ? [] : [error.errorCode])].join(", ");
    return oneLine(`${error.message} (${kind})`);
  }
  return oneLine(error instanceof Error ? error.message : String(error));
}

/** Texts of the wire that say what is wrong and not what to do. Clients match them, so our words come below. */
const hints: readonly [RegExp, string][] = [
  [
    /^no organization found with the given ID/,
    "the server has no such organization: check --organization, or the organizationId in the profile or body; npx keystead whoami prints yours",
  ],
  [
    /^No activity found with fingerprint/,
    `a fingerprint is sha256: and 64 digits; npx keystead request list_activities '{"filterByStatus":["ACTIVITY_STATUS_CONSENSUS_NEEDED"]}' shows those of activities that wait`,
  ],
  [/^request timestamp/, "the clocks of this machine and of the server differ: set the one that is wrong"],
  [
    /^Could not find any resource to sign with/,
    "signWith is an address of a wallet or of a private key in this organization, or a private key's id: see npx keystead request list_wallet_accounts and list_private_keys",
  ],
];

/** What follows the line: of a refusal by policies what each found, of some others what to do. */
export function linesBelow(error: unknown): readonly string[] {
  if (error instanceof PolicyRefusal) return error.lines;
  if (!(error instanceof KeysteadError)) return [];
  return hints.filter(([text]) => text.test(error.message)).map(([, hint]) => `  ${hint}`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

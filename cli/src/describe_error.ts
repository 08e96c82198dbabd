import { KeysteadError } from "@keystead/sdk";
import { ExplainedRefusal } from "./explained_refusal.ts";

/** One line for the terminal. */
export function describeError(error: unknown): string {
  if (error instanceof ExplainedRefusal) return describeError(error.cause);
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
    "the profile is probably of another server: set KEYSTEAD_DATA to the data folder of the server that runs (its `try:` line shows it), or check --organization",
  ],
  [
    /^malformed organization ID provided/,
    "an organization's id is a UUID: check --organization, or the organizationId in the profile or body",
  ],
  [
    /^could not find public key in organization/,
    "no user of that organization has this key: name its organization with --organization ID, or another key with --api-key-file FILE",
  ],
  [
    /^organization mismatch: /,
    "your key belongs to another organization: use --api-key-file FILE with a key of a user there",
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
  [/^wallet label must be unique/, namesInUse("list_wallets")],
  [/^private key label must be unique/, namesInUse("list_private_keys")],
  [/^user tag label must be unique/, namesInUse("list_user_tags")],
  [/^private key tag label must be unique/, namesInUse("list_private_key_tags")],
  [/^policy label must be unique/, namesInUse("list_policies")],
];

function namesInUse(query: string): string {
  return `choose another name; npx keystead request ${query} shows those in use`;
}

/** What follows the line: of a refusal that was explained the explanation, of some others what to do. */
export function linesBelow(error: unknown): readonly string[] {
  if (error instanceof ExplainedRefusal) return error.lines;
  if (!(error instanceof KeysteadError)) return [];
  return hints.filter(([text]) => text.test(error.message)).map(([, hint]) => `  ${hint}`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** How a secret leaves: encrypted to a key of the client's, in a bundle that names the organization. */
import { makeExportBundle, parseTargetPublicKey } from "@keystead/core/crypto/bundles.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { joinExportText } from "@keystead/core/keys/wallet_text.ts";
import type { MnemonicLanguage } from "@keystead/core/keys/word_lists.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { Pages } from "../state/pages.ts";
import type { KeyRecord, WalletRecord } from "../state/records.ts";
import { decodeWalletSecret } from "../state/wallet_secret.ts";

/** What an export works on: the keys that wait for imports, none of which a secret may be sent to, and the count of exports. */
export type ExportState = Pick<Pages, "importTargets" | "keyCounts">;

export function exportStateOf({ importTargets, keyCounts }: Pages): ExportState {
  return { importTargets, keyCounts };
}

/**
 * The client's key. It must not be one of ours: whoever has the root key could then read the bundle out of the answer, and a
 * bundle for a pending import would come back in as one. Service keys are refused to everybody; of pending imports only those of
 * this organization can be known here, because the signer sees one organization's state at a time.
 */
export function parseTarget(
  { importTargets }: Pick<ExportState, "importTargets">,
  { keys }: ActivityContext,
  text: string,
): Uint8Array {
  const target = parseTargetPublicKey(keys.hpke, text);
  const hex = toHex(target);
  const isOurs = keys.isServiceKey(hex) || importTargets.values().some(({ publicKey }) => publicKey === hex);
  if (isOurs) throw new Fault("invalid_argument", "invalid target public key: this is a key of the server itself");
  return target;
}

/** The bundle of a record's secret; `toPlaintext` makes of it what clients expect, and both are wiped. */
export function exportSecret(
  state: ExportState,
  context: ActivityContext,
  record: KeyRecord,
  targetPublicKey: string,
  toPlaintext: (secret: Uint8Array) => Uint8Array = (secret) => secret,
): string {
  const { keys, organizationId } = context;
  const target = parseTarget(state, context, targetPublicKey);
  const secret = keys.open(record);
  try {
    const plaintext = toPlaintext(secret);
    try {
      return makeExportBundle(keys.hpke, keys.bundleSigner, { organizationId, targetPublicKey: target, plaintext });
    } finally {
      plaintext.fill(0);
    }
  } finally {
    secret.fill(0);
  }
}

/** The words of a wallet, and behind them its passphrase if it has one. */
export function walletText({ keys }: ActivityContext, { language }: WalletRecord, secret: Uint8Array): Uint8Array {
  const { entropy, passphrase } = decodeWalletSecret(secret);
  const sentence = toSentence(keys.signing.keys, { entropy, language });
  try {
    return joinExportText(sentence, passphrase);
  } finally {
    for (const part of [entropy, sentence, passphrase]) part?.fill(0);
  }
}

/** The same entropy in another language is another wallet: the seed is made of the words, not of what they stand for. */
export function checkLanguage({ language }: WalletRecord, wanted: MnemonicLanguage | null | undefined): void {
  if (wanted === undefined || wanted === null || wanted === language) return;
  throw new Fault(
    "invalid_argument",
    `invalid language: this wallet's words are ${language}; in another language they would have another seed and other keys`,
  );
}

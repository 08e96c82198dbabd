/** An export and an import whose secret is known on both sides, so that a wrong one would show. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import type { Json } from "@keystead/e2e/matrix/fixture.ts";
import { ethereum, newWallet } from "@keystead/e2e/matrix/keys.ts";
import { byId } from "@keystead/e2e/matrix/people.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import { decryptExportBundle, encryptWalletToBundle, generateP256KeyPair } from "@turnkey/crypto";
import { mnemonicToAccount } from "viem/accounts";
import { type Act, ownAct } from "./act.ts";

const reader = generateP256KeyPair();

const exportsWords: ActivityEntry = {
  ...activityTable.export_wallet,
  good: async (fixture) => ({
    walletId: (await newWallet(fixture, fixture.place, [ethereum])).walletId,
    targetPublicKey: reader.publicKeyUncompressed,
  }),
  result: ({ walletId }, { result }) => ({ walletId, exportBundle: result.exportBundle }),
  async shows({ walletId }, { before, after, result }, { place }) {
    const words = await decryptExportBundle({
      exportBundle: result.exportBundle,
      embeddedKey: reader.privateKey,
      organizationId: place.organizationId,
      dangerouslyOverrideSignerPublicKey: signerOf(result.exportBundle),
      returnMnemonic: true,
    });
    assert.equal(mnemonicToAccount(words).address, byId(after.accounts, "walletId", walletId).address);
    const { updatedAt } = byId(after.wallets, "walletId", walletId);
    const exported = (wallet: Json) =>
      wallet.walletId === walletId ? { ...wallet, exported: true, updatedAt } : wallet;
    assert.deepEqual(after, { ...before, wallets: before.wallets.map(exported) });
  },
};

const importsWords: ActivityEntry = {
  ...activityTable.import_wallet,
  async good(fixture) {
    const { organizationId, root } = fixture.place;
    const { userId } = root;
    const entropy = new Uint8Array(randomBytes(16));
    const mnemonic = Buffer.from(
      toSentence(nobleKeyMaths, { entropy, language: "MNEMONIC_LANGUAGE_ENGLISH" }),
    ).toString();
    const { importBundle } = await fixture.done("init_import_wallet", { userId });
    const encryptedBundle = await encryptWalletToBundle({
      mnemonic,
      importBundle,
      userId,
      organizationId,
      dangerouslyOverrideSignerPublicKey: signerOf(importBundle),
    });
    // The address is known beforehand; the name carries it to where the result is looked at.
    const walletName = `${mnemonicToAccount(mnemonic).address} ${randomUUID()}`;
    return { userId, walletName, encryptedBundle, accounts: [ethereum] };
  },
  async shows(sent, seen, fixture) {
    assert.equal(seen.result.addresses[0], sent.walletName.split(" ")[0]);
    await activityTable.import_wallet.shows(sent, seen, fixture);
  },
};

function signerOf(bundle: string): string {
  return JSON.parse(bundle).enclaveQuorumPublic;
}

export const exportWords: Act = ownAct("export_wallet", exportsWords);
export const importWords: Act = ownAct("import_wallet", importsWords);

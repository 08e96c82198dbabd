/** The exports of wallets, accounts and private keys, read with the published package. */
import assert from "node:assert/strict";
import { decryptExportBundle, generateP256KeyPair, getPublicKey } from "@turnkey/crypto";
import { invalid, notFound } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { signedData, signerKeyOf, startImport } from "./bundles.ts";
import { activityEntry, type BadInput } from "./entry.ts";
import { noSuchPrivateKey, noSuchWallet } from "./faults.ts";
import { newAccount, newPrivateKey, newWallet } from "./keys.ts";
import { byId } from "./people.ts";
import type { Json, Scene } from "./scene.ts";

/** Whoever exports here reads with this key. */
const reader = generateP256KeyPair();
const targetPublicKey = reader.publicKeyUncompressed;

/** The shape of a bundle that only its reader opens. */
function checkExportBundle(exportBundle: string, { place }: Scene): void {
  const { encappedPublic, ciphertext, organizationId, ...nothing } = signedData(exportBundle);
  assert.deepEqual(nothing, {});
  assert.equal(organizationId, place.organizationId);
  assert.match(encappedPublic, /^04[0-9a-f]{128}$/);
  assert.match(ciphertext, /^[0-9a-f]+$/);
}

function read(exportBundle: string, { place }: Scene, returnMnemonic: boolean): Promise<string> {
  return decryptExportBundle({
    exportBundle,
    embeddedKey: reader.privateKey,
    organizationId: place.organizationId,
    dangerouslyOverrideSignerPublicKey: signerKeyOf(exportBundle),
    returnMnemonic,
    keyFormat: "HEXADECIMAL",
  });
}

const badTargets: BadInput<Json>[] = [
  ...[
    ["no hex", "zz"],
    ["no point", `04${"00".repeat(64)}`],
    ["a point without its first byte", targetPublicKey.slice(2)],
  ].map(([name, target]) => ({
    name: `a target that is ${name}`,
    bend: (good: Json) => ({ ...good, targetPublicKey: target }),
    refusal: invalid("invalid target public key: expected the 66 or 130 hex digits of a point of P-256"),
    kept: "FAILED" as const,
  })),
  {
    name: "a target of the server's own",
    bend: async (good, scene) => {
      const { importBundle } = await startImport(scene, "init_import_wallet");
      return { ...good, targetPublicKey: signedData(importBundle).targetPublic };
    },
    refusal: invalid("invalid target public key: this is a key of the server itself"),
    kept: "FAILED",
  },
];

/** Everything stays as it was, but for the one thing that now counts as exported. */
function checkExported(list: "wallets" | "privateKeys", key: string, id: string, before: Json, after: Json): void {
  const now = byId(after[list], key, id);
  const exported = (each: Json) => (each[key] === id ? { ...each, exported: true, updatedAt: now.updatedAt } : each);
  assert.deepEqual(after, { ...before, [list]: before[list].map(exported) });
}

export const exportWallet = activityEntry<{ walletId: string; targetPublicKey: string; language?: string }>({
  good: async (scene) => ({
    walletId: (await newWallet(scene)).walletId,
    targetPublicKey,
    language: "MNEMONIC_LANGUAGE_ENGLISH",
  }),
  required: ["walletId", "targetPublicKey"],
  result({ walletId }, { result: { exportBundle } }, scene) {
    checkExportBundle(exportBundle, scene);
    return { walletId, exportBundle };
  },
  async shows({ walletId }, { before, after, result }, scene) {
    assert.match(await read(result.exportBundle, scene, true), /^([a-z]+ ){11}[a-z]+$/);
    checkExported("wallets", "walletId", walletId, before, after);
  },
  bad: [
    ...badTargets,
    {
      name: "a language that its words are not of",
      bend: (good) => ({ ...good, language: "MNEMONIC_LANGUAGE_FRENCH" }),
      refusal: invalid(/^invalid language: this wallet's words are MNEMONIC_LANGUAGE_ENGLISH; /),
      kept: "FAILED",
    },
  ],
  foreign: [{ name: "a wallet", bend: (good, { walletId }) => ({ ...good, walletId }), refusal: noSuchWallet }],
  also: {
    "what is exported can be deleted, with its accounts": async (scene) => {
      const { walletId, walletAccountId } = await newAccount(scene);
      await scene.done("export_wallet", { walletId, targetPublicKey });
      await scene.done("delete_wallet_accounts", { walletAccountIds: [walletAccountId] });
      await scene.done("delete_wallets", { walletIds: [walletId] });
    },
  },
});

export const exportWalletAccount = activityEntry<{ address: string; targetPublicKey: string }>({
  good: async (scene) => ({ address: (await newAccount(scene)).address, targetPublicKey }),
  required: ["address", "targetPublicKey"],
  result({ address }, { result: { exportBundle } }, scene) {
    checkExportBundle(exportBundle, scene);
    return { address, exportBundle };
  },
  async shows({ address }, { before, after, result }, scene) {
    assert.match(await read(result.exportBundle, scene, false), /^[0-9a-f]{64}$/);
    // Whether an account was exported is nowhere shown.
    const { updatedAt } = byId(after.accounts, "address", address);
    const accounts = before.accounts.map((each) => (each.address === address ? { ...each, updatedAt } : each));
    assert.deepEqual(after, { ...before, accounts });
  },
  bad: [
    ...badTargets,
    {
      name: "no address",
      bend: (good) => ({ ...good, address: "x" }),
      refusal: notFound("Could not find wallet account with address: x"),
      kept: "FAILED",
    },
  ],
  foreign: [
    {
      name: "an address",
      bend: (good, { address }) => ({ ...good, address }),
      refusal: ({ address }) => notFound(`Could not find wallet account with address: ${address}`),
    },
  ],
  also: {
    "the account can be deleted, its wallet not": async (scene) => {
      const { walletId, walletAccountId, address } = await newAccount(scene);
      await scene.done("export_wallet_account", { address, targetPublicKey });
      const refusal = invalid(
        `wallet has not been exported: \`${walletId}\`; export it first, or set deleteWithoutExport`,
      );
      assertRefused(await scene.submit("delete_wallets", { walletIds: [walletId] }), refusal);
      await scene.done("delete_wallet_accounts", { walletAccountIds: [walletAccountId] });
    },
  },
});

export const exportPrivateKey = activityEntry<{ privateKeyId: string; targetPublicKey: string }>({
  good: async (scene) => ({ privateKeyId: await newPrivateKey(scene), targetPublicKey }),
  required: ["privateKeyId", "targetPublicKey"],
  result({ privateKeyId }, { result: { exportBundle } }, scene) {
    checkExportBundle(exportBundle, scene);
    return { privateKeyId, exportBundle };
  },
  async shows({ privateKeyId }, { before, after, result }, scene) {
    assert.match(await read(result.exportBundle, scene, false), /^[0-9a-f]{64}$/);
    checkExported("privateKeys", "privateKeyId", privateKeyId, before, after);
  },
  bad: badTargets,
  foreign: [
    {
      name: "a private key",
      bend: (good, { privateKeyId }) => ({ ...good, privateKeyId }),
      refusal: noSuchPrivateKey,
    },
  ],
  also: {
    "what is exported can be deleted, and is the key that it says": async (scene) => {
      const privateKeyId = await newPrivateKey(scene, scene.place, { curve: "CURVE_P256", addressFormats: [] });
      const { privateKey } = await scene.ask("get_private_key", { privateKeyId });
      const { exportBundle } = await scene.done("export_private_key", { privateKeyId, targetPublicKey });
      const secret = await read(exportBundle, scene, false);
      assert.equal(Buffer.from(getPublicKey(secret, false)).toString("hex"), privateKey.publicKey);
      await scene.done("delete_private_keys", { privateKeyIds: [privateKeyId] });
    },
  },
});

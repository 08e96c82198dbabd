/** The exports of wallets, accounts and private keys, read with the published package. */
import assert from "node:assert/strict";
import { decryptExportBundle, generateP256KeyPair, getPublicKey } from "@turnkey/crypto";
import { invalid, notFound } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { signedData, signerKeyOf, startImport } from "./bundles.ts";
import { activityEntry, type BadInput } from "./entry.ts";
import { noSuchPrivateKey, noSuchWallet } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { newAccount, newPrivateKey, newWallet } from "./keys.ts";
import { byId } from "./people.ts";

/** Whoever exports here reads with this key. */
const reader = generateP256KeyPair();
const targetPublicKey = reader.publicKeyUncompressed;

/** The shape of a bundle that only its reader opens. */
function checkExportBundle(exportBundle: string, { place }: Fixture): void {
  const { encappedPublic, ciphertext, organizationId, ...nothing } = signedData(exportBundle);
  assert.deepEqual(nothing, {});
  assert.equal(organizationId, place.organizationId);
  assert.match(encappedPublic, /^04[0-9a-f]{128}$/);
  assert.match(ciphertext, /^[0-9a-f]+$/);
}

function read(exportBundle: string, { place }: Fixture, returnMnemonic: boolean): Promise<string> {
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
    bend: async (good, fixture) => {
      const { importBundle } = await startImport(fixture, "init_import_wallet");
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
  good: async (fixture) => ({
    walletId: (await newWallet(fixture)).walletId,
    targetPublicKey,
    language: "MNEMONIC_LANGUAGE_ENGLISH",
  }),
  required: ["walletId", "targetPublicKey"],
  result({ walletId }, { result: { exportBundle } }, fixture) {
    checkExportBundle(exportBundle, fixture);
    return { walletId, exportBundle };
  },
  async shows({ walletId }, { before, after, result }, fixture) {
    assert.match(await read(result.exportBundle, fixture, true), /^([a-z]+ ){11}[a-z]+$/);
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
    "what is exported can be deleted, with its accounts": async (fixture) => {
      const { walletId, walletAccountId } = await newAccount(fixture);
      await fixture.done("export_wallet", { walletId, targetPublicKey });
      await fixture.done("delete_wallet_accounts", { walletAccountIds: [walletAccountId] });
      await fixture.done("delete_wallets", { walletIds: [walletId] });
    },
  },
});

export const exportWalletAccount = activityEntry<{ address: string; targetPublicKey: string }>({
  good: async (fixture) => ({ address: (await newAccount(fixture)).address, targetPublicKey }),
  required: ["address", "targetPublicKey"],
  result({ address }, { result: { exportBundle } }, fixture) {
    checkExportBundle(exportBundle, fixture);
    return { address, exportBundle };
  },
  async shows({ address }, { before, after, result }, fixture) {
    assert.match(await read(result.exportBundle, fixture, false), /^[0-9a-f]{64}$/);
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
    "the account can be deleted, its wallet not": async (fixture) => {
      const { walletId, walletAccountId, address } = await newAccount(fixture);
      await fixture.done("export_wallet_account", { address, targetPublicKey });
      const refusal = invalid(
        `wallet has not been exported: \`${walletId}\`; export it first, or set deleteWithoutExport`,
      );
      assertRefused(await fixture.submit("delete_wallets", { walletIds: [walletId] }), refusal);
      await fixture.done("delete_wallet_accounts", { walletAccountIds: [walletAccountId] });
    },
  },
});

export const exportPrivateKey = activityEntry<{ privateKeyId: string; targetPublicKey: string }>({
  good: async (fixture) => ({ privateKeyId: await newPrivateKey(fixture), targetPublicKey }),
  required: ["privateKeyId", "targetPublicKey"],
  result({ privateKeyId }, { result: { exportBundle } }, fixture) {
    checkExportBundle(exportBundle, fixture);
    return { privateKeyId, exportBundle };
  },
  async shows({ privateKeyId }, { before, after, result }, fixture) {
    assert.match(await read(result.exportBundle, fixture, false), /^[0-9a-f]{64}$/);
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
    "what is exported can be deleted, and is the key that it says": async (fixture) => {
      const privateKeyId = await newPrivateKey(fixture, fixture.place, { curve: "CURVE_P256", addressFormats: [] });
      const { privateKey } = await fixture.ask("get_private_key", { privateKeyId });
      const { exportBundle } = await fixture.done("export_private_key", { privateKeyId, targetPublicKey });
      const secret = await read(exportBundle, fixture, false);
      assert.equal(Buffer.from(getPublicKey(secret, false)).toString("hex"), privateKey.publicKey);
      await fixture.done("delete_private_keys", { privateKeyIds: [privateKeyId] });
    },
  },
});

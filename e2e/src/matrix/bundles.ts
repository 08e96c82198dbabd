/** The exports and imports of wallets, accounts and private keys, with the published package's own encryption. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
  getPublicKey,
} from "@turnkey/crypto";
import { invalid, notFound } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { activityEntry, type BadInput, type ForeignInput } from "./entry.ts";
import { badName, exists, noSuchPrivateKey, noSuchUser, noSuchWallet, notOwnAct } from "./faults.ts";
import {
  type AccountParams,
  ethereum,
  newAccount,
  newPrivateKey,
  newWallet,
  privateKeyParams,
  solana,
} from "./keys.ts";
import { byId } from "./people.ts";
import { checkPrivateKey } from "./private_keys.ts";
import type { Json, Scene } from "./scene.ts";
import { badAccounts, repeatedAccounts } from "./wallet_accounts.ts";
import { badWalletNames, checkNewWallet } from "./wallets.ts";

/** Whoever exports here reads with this key. */
const reader = generateP256KeyPair();
const targetPublicKey = reader.publicKeyUncompressed;

/** What is signed in a bundle, which has exactly these fields. */
function signedData(bundle: string): Json {
  const { version, data, dataSignature, enclaveQuorumPublic, ...nothing } = JSON.parse(bundle);
  assert.deepEqual(nothing, {});
  assert.equal(version, "v1.0.0");
  assert.match(dataSignature, /^30[0-9a-f]+$/);
  assert.match(enclaveQuorumPublic, /^04[0-9a-f]{128}$/);
  return JSON.parse(Buffer.from(data, "hex").toString());
}

/** The shape of a bundle that only its reader opens. */
function checkExportBundle(exportBundle: string, { place }: Scene): void {
  const { encappedPublic, ciphertext, organizationId, ...nothing } = signedData(exportBundle);
  assert.deepEqual(nothing, {});
  assert.equal(organizationId, place.organizationId);
  assert.match(encappedPublic, /^04[0-9a-f]{128}$/);
  assert.match(ciphertext, /^[0-9a-f]+$/);
}

const signerKeyOf = (bundle: string): string => JSON.parse(bundle).enclaveQuorumPublic;

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
      const refusal = invalid(`wallet has not been exported: \`${walletId}\``);
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

type Start = "init_import_wallet" | "init_import_private_key";

function startImport(scene: Scene, path: Start): Promise<{ importBundle: string }> {
  return scene.done(path, { userId: scene.place.root.userId }) as Promise<{ importBundle: string }>;
}

/** An import is its user's own act: even a root user starts none for another. */
const othersImport: BadInput<Json>[] = [
  {
    name: "another user",
    bend: (good, { place }) => ({ ...good, userId: place.deputy.userId }),
    refusal: notOwnAct,
    kept: "REJECTED",
  },
  {
    name: "nobody",
    bend: (good) => ({ ...good, userId: randomUUID() }),
    refusal: ({ userId }, { place }) => noSuchUser({ userId }, place),
    kept: "FAILED",
  },
];

const foreignUser: ForeignInput<Json> = {
  name: "a user",
  bend: (good, { userId }) => ({ ...good, userId }),
  refusal: noSuchUser,
};

const initImport = activityEntry<{ userId: string }>({
  good: ({ place }) => ({ userId: place.root.userId }),
  required: ["userId"],
  result({ userId }, { result: { importBundle } }, { place: { organizationId } }) {
    const { targetPublic, ...names } = signedData(importBundle);
    assert.deepEqual(names, { organizationId, userId });
    assert.match(targetPublic, /^04[0-9a-f]{128}$/);
    return { importBundle };
  },
  shows: (_, { before, after }) => assert.deepEqual(after, before),
  bad: othersImport,
  foreign: [foreignUser],
  isOwnAct: true,
  denied: ({ place }) => ({ userId: place.member.userId }),
});

export const initImportWallet = initImport;
export const initImportPrivateKey = initImport;

const notOpened = invalid(
  "invalid encrypted bundle: it does not open with a pending import of this user, which lasts one use",
);

function unopened(name: string, encryptedBundle: string): BadInput<Json> {
  return { name, bend: (good) => ({ ...good, encryptedBundle }), refusal: notOpened, kept: "FAILED" };
}

const badBundles: BadInput<Json>[] = [
  unopened("no bundle", "x"),
  unopened("an empty bundle", "{}"),
  unopened("a bundle for nobody", JSON.stringify({ encappedPublic: targetPublicKey, ciphertext: "00".repeat(48) })),
];

const mnemonic = (): string =>
  Buffer.from(
    toSentence(nobleKeyMaths, {
      entropy: new Uint8Array(randomBytes(16)),
      language: "MNEMONIC_LANGUAGE_ENGLISH",
    }),
  ).toString();

async function walletBundle(scene: Scene, words: string): Promise<string> {
  const { importBundle } = await startImport(scene, "init_import_wallet");
  return encryptWalletToBundle({
    mnemonic: words,
    importBundle,
    userId: scene.place.root.userId,
    organizationId: scene.place.organizationId,
    dangerouslyOverrideSignerPublicKey: signerKeyOf(importBundle),
  });
}

async function keyBundle(scene: Scene, privateKey: string): Promise<string> {
  const { importBundle } = await startImport(scene, "init_import_private_key");
  return encryptPrivateKeyToBundle({
    privateKey,
    keyFormat: "HEXADECIMAL",
    importBundle,
    userId: scene.place.root.userId,
    organizationId: scene.place.organizationId,
    dangerouslyOverrideSignerPublicKey: signerKeyOf(importBundle),
  });
}

type WalletImport = { userId: string; walletName: string; encryptedBundle: string; accounts: AccountParams[] };

async function walletImport(scene: Scene, words = mnemonic()): Promise<WalletImport> {
  return {
    userId: scene.place.root.userId,
    walletName: `Imported ${randomUUID()}`,
    encryptedBundle: await walletBundle(scene, words),
    accounts: [ethereum, { ...solana, name: `Account ${randomUUID()}` }],
  };
}

const junk = `${"test ".repeat(11)}junk`;

export const importWallet = activityEntry<WalletImport>({
  good: (scene) => walletImport(scene),
  required: ["userId", "walletName", "encryptedBundle", "accounts"],
  result: (_, { result: { walletId, addresses } }) => ({ walletId, addresses }),
  shows: (sent, seen, { place }) => checkNewWallet(sent, seen, place.organizationId, true),
  bad: [...badWalletNames, ...badAccounts, ...repeatedAccounts, ...badBundles, ...othersImport],
  foreign: [foreignUser],
  isOwnAct: true,
  denied: ({ place }) => ({
    userId: place.member.userId,
    walletName: `Imported ${randomUUID()}`,
    encryptedBundle: "x",
    accounts: [],
  }),
  also: {
    "known words give the known addresses, once": async (scene) => {
      const { walletId, addresses } = await scene.done("import_wallet", await walletImport(scene, junk));
      assert.deepEqual(addresses, [
        "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        "oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96",
      ]);
      const again = await scene.submit("import_wallet", await walletImport(scene, junk));
      assertRefused(again, exists(`seed for wallet ${walletId} already imported in this organization`));
    },
    "words that are no mnemonic": async (scene) => {
      for (const [words, why] of [
        ["test", "invalid mnemonic: expected 12, 15, 18, 21 or 24 words"],
        ["abandon ".repeat(12).trim(), "invalid mnemonic: its checksum does not match"],
        [`${"test ".repeat(11)}junkk`, "invalid mnemonic: its words are not all in one BIP-39 word list"],
      ] as const) {
        assertRefused(await scene.submit("import_wallet", await walletImport(scene, words)), invalid(why));
      }
    },
    "a failed import leaves its bundle, a done one uses it up": async (scene) => {
      const params = await walletImport(scene);
      const failed = await scene.submit("import_wallet", { ...params, accounts: [{ ...ethereum, path: "x" }] });
      assertRefused(failed, invalid("invalid path"));
      const { walletId } = await scene.done("import_wallet", params);
      const again = { ...params, walletName: `Again ${randomUUID()}`, accounts: [] };
      assertRefused(await scene.submit("import_wallet", again), notOpened);
      await scene.done("delete_wallets", { walletIds: [walletId], deleteWithoutExport: true });
      assertRefused(await scene.submit("import_wallet", again), notOpened);
    },
    "a bundle for a private key": async (scene) => {
      const encryptedBundle = await keyBundle(scene, "01".repeat(32));
      const answer = await scene.submit("import_wallet", { ...(await walletImport(scene)), encryptedBundle });
      assertRefused(answer, notOpened);
    },
  },
});

type KeyImport = {
  userId: string;
  privateKeyName: string;
  encryptedBundle: string;
  curve: string;
  addressFormats: string[];
};

async function keyImport(scene: Scene, secret = randomBytes(32).toString("hex")): Promise<KeyImport> {
  const { privateKeyName, curve, addressFormats } = privateKeyParams();
  const encryptedBundle = await keyBundle(scene, secret);
  return { userId: scene.place.root.userId, privateKeyName, encryptedBundle, curve, addressFormats };
}

export const importPrivateKey = activityEntry<KeyImport>({
  good: (scene) => keyImport(scene),
  required: ["userId", "privateKeyName", "encryptedBundle", "curve", "addressFormats"],
  result: ({ privateKeyName }, { after }) => {
    const { privateKeyId, addresses } = byId(after.privateKeys, "privateKeyName", privateKeyName);
    return { privateKeyId, addresses };
  },
  shows({ privateKeyName, curve, addressFormats }, { before, after, result }) {
    assert.equal(after.privateKeys.length, before.privateKeys.length + 1);
    const key = byId(after.privateKeys, "privateKeyId", result.privateKeyId);
    checkPrivateKey(key, { privateKeyName, curve, addressFormats, privateKeyTags: [] }, result, true);
  },
  bad: [
    {
      name: "a name with a line break",
      bend: (good) => ({ ...good, privateKeyName: "a\nb" }),
      refusal: invalid(`invalid request body: field \`parameters.privateKeyName\` ${badName}`),
    },
    {
      name: "a name that exists, in other letters",
      bend: async (good, scene) => {
        const privateKeyName = `taken ${randomUUID()}`;
        await newPrivateKey(scene, scene.place, { privateKeyName });
        return { ...good, privateKeyName: privateKeyName.toUpperCase() };
      },
      refusal: ({ privateKeyName }) => invalid(`private key label must be unique: \`${privateKeyName}\` exists`),
      kept: "FAILED",
    },
    {
      name: "an address format of another curve",
      bend: (good) => ({ ...good, addressFormats: ["ADDRESS_FORMAT_SOLANA"] }),
      refusal: invalid("invalid curve"),
      kept: "FAILED",
    },
    ...badBundles,
    ...othersImport,
  ],
  foreign: [foreignUser],
  isOwnAct: true,
  denied: ({ place }) => ({
    userId: place.member.userId,
    privateKeyName: `Imported ${randomUUID()}`,
    encryptedBundle: "x",
    curve: "CURVE_SECP256K1",
    addressFormats: [],
  }),
  also: {
    "a known key gives the known address, once": async (scene) => {
      const secret = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
      const { privateKeyId, addresses } = await scene.done("import_private_key", await keyImport(scene, secret));
      const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
      assert.deepEqual(addresses, [{ format: "ADDRESS_FORMAT_ETHEREUM", address }]);
      const again = await scene.submit("import_private_key", await keyImport(scene, secret));
      const known = `private key with ID ${privateKeyId} has already been imported in this organization`;
      assertRefused(again, exists(known));
    },
    "bytes that are no key of the curve": async (scene) => {
      for (const [secret, why] of [
        ["00".repeat(32), "not in the curve's range"],
        ["ff".repeat(32), "not in the curve's range"],
        ["01".repeat(31), "expected 32 bytes"],
        ["01".repeat(33), "expected 32 bytes"],
      ] as const) {
        const answer = await scene.submit("import_private_key", await keyImport(scene, secret));
        assertRefused(answer, invalid(`invalid private key: ${why}`));
      }
    },
    "a bundle is used up by its import": async (scene) => {
      const params = await keyImport(scene);
      await scene.done("import_private_key", params);
      const again = { ...params, privateKeyName: `Again ${randomUUID()}` };
      assertRefused(await scene.submit("import_private_key", again), notOpened);
    },
  },
});

/** The imports of wallets and private keys, encrypted by the published package. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { encryptPrivateKeyToBundle, encryptWalletToBundle, generateP256KeyPair } from "@turnkey/crypto";
import { invalid } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { signedData, signerKeyOf, startImport } from "./bundles.ts";
import { activityEntry, type BadInput, type ForeignInput } from "./entry.ts";
import { badName, exists, noSuchUser, notOwnAct } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { type AccountParams, ethereum, newPrivateKey, privateKeyParams, solana } from "./keys.ts";
import { byId } from "./people.ts";
import { checkPrivateKey } from "./private_keys.ts";
import { badAccounts, badPath, repeatedAccounts } from "./wallet_accounts.ts";
import { badWalletNames, checkNewWallet } from "./wallets.ts";

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
  unopened(
    "a bundle for nobody",
    JSON.stringify({ encappedPublic: generateP256KeyPair().publicKeyUncompressed, ciphertext: "00".repeat(48) }),
  ),
];

const mnemonic = (): string =>
  Buffer.from(
    toSentence(nobleKeyMaths, {
      entropy: new Uint8Array(randomBytes(16)),
      language: "MNEMONIC_LANGUAGE_ENGLISH",
    }),
  ).toString();

async function walletBundle(fixture: Fixture, words: string): Promise<string> {
  const { importBundle } = await startImport(fixture, "init_import_wallet");
  return encryptWalletToBundle({
    mnemonic: words,
    importBundle,
    userId: fixture.place.root.userId,
    organizationId: fixture.place.organizationId,
    dangerouslyOverrideSignerPublicKey: signerKeyOf(importBundle),
  });
}

async function keyBundle(fixture: Fixture, privateKey: string): Promise<string> {
  const { importBundle } = await startImport(fixture, "init_import_private_key");
  return encryptPrivateKeyToBundle({
    privateKey,
    keyFormat: "HEXADECIMAL",
    importBundle,
    userId: fixture.place.root.userId,
    organizationId: fixture.place.organizationId,
    dangerouslyOverrideSignerPublicKey: signerKeyOf(importBundle),
  });
}

type WalletImport = { userId: string; walletName: string; encryptedBundle: string; accounts: AccountParams[] };

async function walletImport(fixture: Fixture, words = mnemonic()): Promise<WalletImport> {
  return {
    userId: fixture.place.root.userId,
    walletName: `Imported ${randomUUID()}`,
    encryptedBundle: await walletBundle(fixture, words),
    accounts: [ethereum, { ...solana, name: `Account ${randomUUID()}` }],
  };
}

const junk = `${"test ".repeat(11)}junk`;

export const importWallet = activityEntry<WalletImport>({
  good: (fixture) => walletImport(fixture),
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
    "known words give the known addresses, once": async (fixture) => {
      const { walletId, addresses } = await fixture.done("import_wallet", await walletImport(fixture, junk));
      assert.deepEqual(addresses, [
        "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        "oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96",
      ]);
      const again = await fixture.submit("import_wallet", await walletImport(fixture, junk));
      assertRefused(again, exists(`seed for wallet ${walletId} already imported in this organization`));
    },
    "words that are no mnemonic": async (fixture) => {
      for (const [words, why] of [
        ["test", "invalid mnemonic: expected 12, 15, 18, 21 or 24 words"],
        ["abandon ".repeat(12).trim(), "invalid mnemonic: its checksum does not match"],
        [`${"test ".repeat(11)}junkk`, "invalid mnemonic: its words are not all in one BIP-39 word list"],
      ] as const) {
        assertRefused(await fixture.submit("import_wallet", await walletImport(fixture, words)), invalid(why));
      }
    },
    "a failed import leaves its bundle, a done one uses it up": async (fixture) => {
      const params = await walletImport(fixture);
      const failed = await fixture.submit("import_wallet", { ...params, accounts: [{ ...ethereum, path: "x" }] });
      assertRefused(failed, invalid(badPath));
      const { walletId } = await fixture.done("import_wallet", params);
      const again = { ...params, walletName: `Again ${randomUUID()}`, accounts: [] };
      assertRefused(await fixture.submit("import_wallet", again), notOpened);
      await fixture.done("delete_wallets", { walletIds: [walletId], deleteWithoutExport: true });
      assertRefused(await fixture.submit("import_wallet", again), notOpened);
    },
    "a bundle for a private key": async (fixture) => {
      const encryptedBundle = await keyBundle(fixture, "01".repeat(32));
      const answer = await fixture.submit("import_wallet", { ...(await walletImport(fixture)), encryptedBundle });
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

async function keyImport(fixture: Fixture, secret = randomBytes(32).toString("hex")): Promise<KeyImport> {
  const { privateKeyName, curve, addressFormats } = privateKeyParams();
  const encryptedBundle = await keyBundle(fixture, secret);
  return { userId: fixture.place.root.userId, privateKeyName, encryptedBundle, curve, addressFormats };
}

export const importPrivateKey = activityEntry<KeyImport>({
  good: (fixture) => keyImport(fixture),
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
      bend: async (good, fixture) => {
        const privateKeyName = `taken ${randomUUID()}`;
        await newPrivateKey(fixture, fixture.place, { privateKeyName });
        return { ...good, privateKeyName: privateKeyName.toUpperCase() };
      },
      refusal: ({ privateKeyName }) => invalid(`private key label must be unique: \`${privateKeyName}\` exists`),
      kept: "FAILED",
    },
    {
      name: "an address format of another curve",
      bend: (good) => ({ ...good, addressFormats: ["ADDRESS_FORMAT_SOLANA"] }),
      refusal: invalid("invalid curve: ADDRESS_FORMAT_SOLANA needs CURVE_ED25519"),
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
    "a known key gives the known address, once": async (fixture) => {
      const secret = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
      const { privateKeyId, addresses } = await fixture.done("import_private_key", await keyImport(fixture, secret));
      const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
      assert.deepEqual(addresses, [{ format: "ADDRESS_FORMAT_ETHEREUM", address }]);
      const again = await fixture.submit("import_private_key", await keyImport(fixture, secret));
      const known = `private key with ID ${privateKeyId} has already been imported in this organization`;
      assertRefused(again, exists(known));
    },
    "bytes that are no key of the curve": async (fixture) => {
      for (const [secret, why] of [
        ["00".repeat(32), "not in the curve's range"],
        ["ff".repeat(32), "not in the curve's range"],
        ["01".repeat(31), "expected 32 bytes"],
        ["01".repeat(33), "expected 32 bytes"],
      ] as const) {
        const answer = await fixture.submit("import_private_key", await keyImport(fixture, secret));
        assertRefused(answer, invalid(`invalid private key: ${why}`));
      }
    },
    "a bundle is used up by its import": async (fixture) => {
      const params = await keyImport(fixture);
      await fixture.done("import_private_key", params);
      const again = { ...params, privateKeyName: `Again ${randomUUID()}` };
      assertRefused(await fixture.submit("import_private_key", again), notOpened);
    },
  },
});

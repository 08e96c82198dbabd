/** Bad input by the published clients: each is refused with its code and words, and nothing comes of it. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { DEFAULT_ETHEREUM_ACCOUNTS, DEFAULT_SOLANA_ACCOUNTS } from "@turnkey/sdk-server";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, createMember, foundOrganization, type Person, refusalOf, wording } from "../published/clients.ts";
import { bundlesOf, signerKeyOf } from "./bundles.ts";

const encoding = "PAYLOAD_ENCODING_HEXADECIMAL";
const digest = `${"00".repeat(31)}01`;
const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const junk = `${"test ".repeat(11)}junk`;
const accounts = [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS];
const nobody = "00000000-0000-4000-8000-000000000000";

/** What an import begins with is no import. */
const isStart = /^ACTIVITY_TYPE_INIT_IMPORT_/;

/** What is refused, and how: all of the words, or how they begin. */
type Words = string | RegExp;

const unknownKey = "Could not find any resource to sign with.";
const notOpened = "invalid encrypted bundle: it does not open with a pending import of this user, which lasts one use";
const notAllowed = /^Turnkey error 7: You don't have sufficient permissions to take this action\./;
const unparsable = /^Turnkey error 3: failed to parse transaction: .*"turnkeyErrorCode":"INVALID_TRANSACTION"/;

type Hash = "HASH_FUNCTION_NO_OP" | "HASH_FUNCTION_SHA256" | "HASH_FUNCTION_KECCAK256" | "HASH_FUNCTION_NOT_APPLICABLE";

async function refuses(call: Promise<unknown>, code: number, words: Words): Promise<void> {
  const error = await refusalOf(call);
  if (typeof words === "string") assert.equal(error.message, wording(code, words));
  else assert.match(error.message, words);
  assert.equal(error.code, code);
}

export async function refusals(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner, partner] = await foundOrganization(server, root, ["Owner", "Partner"]);
  const [stranger] = await foundOrganization(server, root, ["Stranger"]);
  assert.ok(owner !== undefined && partner !== undefined && stranger !== undefined);
  const member = await createMember(server, owner, "Member");
  const { sdk, http, userId, organizationId } = owner;
  const signerKey = await signerKeyOf(server);
  const bundles = bundlesOf(owner, signerKey);
  const { walletId, addresses } = await sdk.createWallet({ walletName: "Wallet", accounts });
  const [ethereum, solana] = [at(addresses, 0), at(addresses, 1)];
  const theirs = await stranger.sdk.createWallet({ walletName: "Theirs", accounts });

  /** Everything that a refusal could have left, but for the memory that it was tried. */
  const contents = async () => {
    const [wallets, accounts, keys, { activities }] = await Promise.all([
      sdk.getWallets(),
      sdk.getWalletAccounts({}),
      sdk.getPrivateKeys(),
      sdk.getActivities({ paginationOptions: { limit: "100" } }),
    ]);
    const [done, others] = [true, false].map((isDone) =>
      activities.filter(({ status }) => (status === "ACTIVITY_STATUS_COMPLETED") === isDone),
    );
    for (const { result } of others ?? []) assert.deepEqual(result, {});
    const ids = done?.filter(({ type }) => !isStart.test(type)).map(({ id }) => id);
    return { ...wallets, ...accounts, ...keys, ids };
  };

  /** A subtest of which nothing may come. */
  const nothingComesOf = (name: string, work: () => Promise<void>) =>
    t.test(name, async () => {
      const before = await contents();
      await work();
      assert.deepEqual(await contents(), before);
    });

  const sign = (signWith: string, payload: string, hashFunction: Hash, person = owner) =>
    person.sdk.signRawPayload({ signWith, payload, encoding, hashFunction });
  const importWallet = (person: Person, encryptedBundle: string, walletName = "Import") =>
    person.sdk.importWallet({ userId: person.userId, walletName, encryptedBundle, accounts });

  await nothingComesOf("an unknown signWith", async () => {
    for (const signWith of ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8", nobody, walletId, "anything"]) {
      await refuses(sign(signWith, digest, "HASH_FUNCTION_NO_OP"), 5, unknownKey);
      const ask = { signWith, unsignedTransaction: "c0", type: "TRANSACTION_TYPE_ETHEREUM" } as const;
      await refuses(sdk.signTransaction(ask), 5, unknownKey);
    }
  });

  await nothingComesOf("another organization's key, which answers as one that does not exist", async () => {
    const [signWith] = theirs.addresses as [string];
    await refuses(sign(signWith, digest, "HASH_FUNCTION_NO_OP"), 5, unknownKey);
    // Nor does it help to name the organization: its users are others.
    const ask = { signWith, payload: digest, encoding, hashFunction: "HASH_FUNCTION_NO_OP" } as const;
    const elsewhere = sdk.signRawPayload({ organizationId: stranger.organizationId, ...ask });
    assert.equal((await refusalOf(elsewhere)).code, 16);
  });

  await nothingComesOf("a digest of the wrong length", async () => {
    for (const payload of ["", "00", digest.slice(2), `${digest}00`]) {
      await refuses(
        sign(ethereum, payload, "HASH_FUNCTION_NO_OP"),
        3,
        /^Turnkey error 3: expected a 32-bytes-long digest: hash the payload first, /,
      );
    }
  });

  await nothingComesOf("an Ed25519 key with a hash function, and the others without", async () => {
    const words = /^Turnkey error 3: invalid hash function/;
    for (const hash of ["HASH_FUNCTION_NO_OP", "HASH_FUNCTION_SHA256", "HASH_FUNCTION_KECCAK256"] as const) {
      await refuses(sign(solana, digest, hash), 3, words);
    }
    await refuses(sign(ethereum, digest, "HASH_FUNCTION_NOT_APPLICABLE"), 3, words);
  });

  await nothingComesOf("one bad payload of many, and no payload at all", async () => {
    for (const payloads of [[digest, "00"], [digest, "not hex"], []]) {
      const ask = { signWith: ethereum, payloads, encoding, hashFunction: "HASH_FUNCTION_NO_OP" } as const;
      await refuses(sdk.signRawPayloads(ask), 3, /^Turnkey error 3/);
    }
  });

  await nothingComesOf("a malformed transaction, and one for a key of another chain", async () => {
    const malformed = {
      TRANSACTION_TYPE_ETHEREUM: [ethereum, "0x", "zz", "c0", "02c0", "05c0", "f8"],
      TRANSACTION_TYPE_TEMPO: [ethereum, "76", "76c0"],
      TRANSACTION_TYPE_SOLANA: [solana, "00", "01", `01${"00".repeat(64)}80`],
    } as const;
    for (const [type, [signWith, ...transactions]] of Object.entries(malformed)) {
      for (const unsignedTransaction of transactions) {
        const ask = { signWith, unsignedTransaction, type: type as keyof typeof malformed };
        await refuses(sdk.signTransaction(ask), 3, unparsable);
      }
    }
    const misfits = [
      [ethereum, "TRANSACTION_TYPE_BITCOIN", /^Turnkey error 3: invalid address format/],
      [ethereum, "TRANSACTION_TYPE_TRON", /^Turnkey error 3: invalid address format/],
      [solana, "TRANSACTION_TYPE_ETHEREUM", /^Turnkey error 3: invalid curve/],
    ] as const;
    for (const [signWith, type, words] of misfits) {
      await refuses(sdk.signTransaction({ signWith, unsignedTransaction: "c0", type }), 3, words);
    }
  });

  await nothingComesOf("a bundle for another user, whoever of them sends it", async () => {
    await refuses(importWallet(partner, await bundles.encryptWallet(junk)), 3, notOpened);
    const { userId } = partner;
    await refuses(sdk.initImportWallet({ userId }), 7, notAllowed);
    await refuses(sdk.initImportPrivateKey({ userId }), 7, notAllowed);
    const encryptedBundle = await bundlesOf(partner, signerKey).encryptWallet(junk);
    await refuses(sdk.importWallet({ userId, walletName: "Import", encryptedBundle, accounts }), 7, notAllowed);
  });

  await nothingComesOf("a bundle of another kind, and one that is none", async () => {
    await refuses(importWallet(owner, await bundles.encryptPrivateKey(digest)), 3, notOpened);
    for (const encryptedBundle of ["{}", "x", '{"encappedPublic":"04","ciphertext":"00"}']) {
      await refuses(importWallet(owner, encryptedBundle), 3, notOpened);
    }
  });

  await nothingComesOf("words that are no mnemonic", async () => {
    const abandon = "abandon ".repeat(12).trim();
    for (const words of [abandon, `${"test ".repeat(10)}junk`, `${"test ".repeat(11)}junkk`, "", "test"]) {
      const encryptedBundle = await bundles.encryptWallet(words);
      await refuses(importWallet(owner, encryptedBundle), 3, /^Turnkey error 3: invalid mnemonic/);
    }
  });

  await nothingComesOf("scalars outside the curve, and keys of another length", async () => {
    const importKey = async (privateKey: string) =>
      sdk.importPrivateKey({
        userId,
        privateKeyName: "Import",
        encryptedBundle: await bundles.encryptPrivateKey(privateKey),
        curve: "CURVE_SECP256K1",
        addressFormats: [],
      });
    for (const scalar of ["00".repeat(32), order, "ff".repeat(32)]) {
      await refuses(importKey(scalar), 3, "invalid private key: not in the curve's range");
    }
    for (const bytes of ["01", "01".repeat(31), "01".repeat(33), "01".repeat(64)]) {
      await refuses(importKey(bytes), 3, "invalid private key: expected 32 bytes");
    }
  });

  await nothingComesOf("an account that cannot be derived", async () => {
    const create = (account: object) =>
      http.createWallet({
        type: "ACTIVITY_TYPE_CREATE_WALLET",
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { walletName: "New", accounts: [{ ...at(accounts, 0), ...account }] },
      });
    for (const path of ["m/44'/60'/2147483648", "44'/60'", "m/", "m/-1", ""]) {
      await refuses(create({ path }), 3, /^Turnkey error 3: invalid path: write it like m/);
    }
    await refuses(
      create({ curve: "CURVE_ED25519" }),
      3,
      /^Turnkey error 3: invalid curve: ADDRESS_FORMAT_ETHEREUM needs CURVE_SECP256K1/,
    );
    await refuses(create({ addressFormat: "ADDRESS_FORMAT_NONE" }), 3, /^Turnkey error 3/);
  });

  await nothingComesOf("whatever a member asks for whom no policy allows anything", async () => {
    await refuses(sign(ethereum, digest, "HASH_FUNCTION_NO_OP", member), 7, notAllowed);
    await refuses(member.sdk.createWallet({ walletName: "Mine", accounts: [] }), 7, notAllowed);
    await refuses(member.sdk.deleteWallets({ walletIds: [walletId], deleteWithoutExport: true }), 7, notAllowed);
  });

  await t.test("an import target is used once, and a failed import does not use it", async () => {
    const encryptedBundle = await bundles.encryptWallet(junk);
    const taken = importWallet(owner, encryptedBundle, "Wallet");
    await refuses(taken, 3, /^Turnkey error 3: wallet label must be unique/);
    const { walletId } = await importWallet(owner, encryptedBundle);
    const before = await contents();
    await refuses(importWallet(owner, encryptedBundle, "Again"), 3, notOpened);
    assert.deepEqual(await contents(), before);
    // Nor is it there again when the wallet is gone.
    await sdk.deleteWallets({ walletIds: [walletId], deleteWithoutExport: true });
    await refuses(importWallet(owner, encryptedBundle, "Again"), 3, notOpened);
  });
}

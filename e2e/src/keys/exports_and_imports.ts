/** Round trips: what leaves by one bundle comes back by another and is the same key, and the published package reads both. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Keypair } from "@solana/web3.js";
import { decryptExportBundle, generateP256KeyPair } from "@turnkey/crypto";
import { DEFAULT_ETHEREUM_ACCOUNTS, DEFAULT_SOLANA_ACCOUNTS } from "@turnkey/sdk-server";
import type { Hex } from "viem";
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person, refusalOf, wording } from "../published/clients.ts";
import { bundlesOf, signerKeyOf } from "./bundles.ts";

const accounts = [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS];
const junk = `${"test ".repeat(11)}junk`;
const junkAddress = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

export async function exportsAndImports(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  const [heir] = await foundOrganization(server, root, ["Heir"]);
  assert.ok(owner !== undefined && heir !== undefined);
  const { sdk } = owner;
  const signerKey = await signerKeyOf(server);
  const bundles = bundlesOf(owner, signerKey);
  const theirs = bundlesOf(heir, signerKey);

  await t.test("an exported wallet's words are its accounts, and another organization imports them", async () => {
    for (const [length, name] of [
      [12, "Short"],
      [24, "Long"],
    ] as const) {
      const { walletId, addresses } = await sdk.createWallet({ walletName: name, accounts, mnemonicLength: length });
      const mnemonic = await bundles.exportWallet(walletId);
      assert.equal(mnemonic.split(" ").length, length);
      assert.equal(mnemonicToAccount(mnemonic).address, addresses[0]);
      const { wallet } = await sdk.getWallet({ walletId });
      assert.deepEqual([wallet.exported, wallet.imported], [true, false]);

      const imported = await heir.sdk.importWallet({
        userId: heir.userId,
        walletName: name,
        encryptedBundle: await theirs.encryptWallet(mnemonic),
        accounts,
      });
      assert.deepEqual(imported.addresses, addresses);
      const { wallet: copy } = await heir.sdk.getWallet({ walletId: imported.walletId });
      assert.deepEqual([copy.exported, copy.imported], [false, true]);
      assert.equal(await theirs.exportWallet(imported.walletId), mnemonic);
      // What was exported may go.
      await sdk.deleteWallets({ walletIds: [walletId] });
    }
  });

  await t.test("a mnemonic of the world is imported once", async () => {
    const importIt = async (walletName: string) =>
      sdk.importWallet({
        userId: owner.userId,
        walletName,
        encryptedBundle: await bundles.encryptWallet(junk),
        accounts: DEFAULT_ETHEREUM_ACCOUNTS,
      });
    const { walletId, addresses } = await importIt("Junk");
    assert.deepEqual(addresses, [junkAddress]);
    const again = await refusalOf(importIt("Junk again"));
    assert.equal(again.message, wording(6, `seed for wallet ${walletId} already imported in this organization`));
  });

  await t.test("an exported account is one key, as hex or as Solana writes it", async () => {
    const { walletId, addresses } = await sdk.createWallet({ walletName: "Accounts", accounts });
    const [ethereum, solana] = [at(addresses, 0), at(addresses, 1)];
    assert.equal(privateKeyToAccount(`0x${await bundles.exportAccount(ethereum)}`).address, ethereum);
    const seed = await bundles.exportAccount(solana);
    assert.equal(Keypair.fromSeed(Buffer.from(seed, "hex")).publicKey.toBase58(), solana);
    assert.notEqual(await bundles.exportAccount(solana, "SOLANA"), seed);
    // One account is not the wallet.
    assert.equal((await sdk.getWallet({ walletId })).wallet.exported, false);
  });

  await t.test("a private key comes back under another name elsewhere", async () => {
    const { privateKeys } = await sdk.createPrivateKeys({
      privateKeys: [
        {
          privateKeyName: "E",
          curve: "CURVE_SECP256K1",
          privateKeyTags: [],
          addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
        },
        { privateKeyName: "S", curve: "CURVE_ED25519", privateKeyTags: [], addressFormats: ["ADDRESS_FORMAT_SOLANA"] },
        { privateKeyName: "P", curve: "CURVE_P256", privateKeyTags: [], addressFormats: ["ADDRESS_FORMAT_COMPRESSED"] },
      ],
    });
    for (const { privateKeyId = "", addresses = [] } of privateKeys) {
      const { privateKey } = await sdk.getPrivateKey({ privateKeyId });
      const keyFormat = privateKey.curve === "CURVE_ED25519" ? "SOLANA" : "HEXADECIMAL";
      const secret = await bundles.exportPrivateKey(privateKeyId, keyFormat);
      assert.equal((await sdk.getPrivateKey({ privateKeyId })).privateKey.exported, true);
      const importInto = async (person: Person, client: typeof bundles, name: string) =>
        person.sdk.importPrivateKey({
          userId: person.userId,
          privateKeyName: `${name} of ${privateKey.privateKeyName}`,
          encryptedBundle: await client.encryptPrivateKey(secret, keyFormat),
          curve: privateKey.curve,
          addressFormats: addresses.map(({ format = "ADDRESS_FORMAT_COMPRESSED" }) => format),
        });
      const imported = await importInto(heir, theirs, "Copy");
      assert.deepEqual(imported.addresses, addresses);
      const { privateKey: copy } = await heir.sdk.getPrivateKey({ privateKeyId: imported.privateKeyId });
      assert.deepEqual([copy.publicKey, copy.imported, copy.exported], [privateKey.publicKey, true, false]);
      assert.equal(await theirs.exportPrivateKey(imported.privateKeyId, keyFormat), secret);
      const again = await refusalOf(importInto(heir, theirs, "Second copy"));
      const { privateKeyId: first } = imported;
      assert.equal(
        again.message,
        wording(6, `private key with ID ${first} has already been imported in this organization`),
      );
      await sdk.deletePrivateKeys({ privateKeyIds: [privateKeyId] });
    }
  });

  await t.test("keys in the clients' text formats are imported as what they are", async () => {
    const ethereum = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" satisfies Hex;
    const encryptedBundle = await bundles.encryptPrivateKey(ethereum);
    const { addresses } = await sdk.importPrivateKey({
      userId: owner.userId,
      privateKeyName: "With 0x",
      encryptedBundle,
      curve: "CURVE_SECP256K1",
      addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
    });
    assert.deepEqual(addresses, [{ format: "ADDRESS_FORMAT_ETHEREUM", address: junkAddress }]);
  });

  await t.test("the client refuses a bundle that names another signer, organization or user", async () => {
    const { walletId } = await sdk.createWallet({ walletName: "Suspicious", accounts: [] });
    const { privateKey: embeddedKey, publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
    const { exportBundle } = await sdk.exportWallet({ walletId, targetPublicKey });
    const open = (organizationId: string, dangerouslyOverrideSignerPublicKey?: string) =>
      decryptExportBundle({
        exportBundle,
        embeddedKey,
        organizationId,
        returnMnemonic: true,
        ...(dangerouslyOverrideSignerPublicKey !== undefined && { dangerouslyOverrideSignerPublicKey }),
      });
    await assert.rejects(open(owner.organizationId), /does not match signer key/i);
    await assert.rejects(open(heir.organizationId, signerKey), /organization id does not match expected value/);
    assert.equal((await open(owner.organizationId, signerKey)).split(" ").length, 12);
    const mixedUp = bundlesOf({ ...owner, userId: owner.userId, organizationId: heir.organizationId }, signerKey);
    await assert.rejects(mixedUp.encryptWallet(junk), /organization id does not match expected value/);
  });

  await t.test("both clients' words for what cannot be exported", async () => {
    const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
    const unknown = await refusalOf(sdk.exportWalletAccount({ address: "0xnobody", targetPublicKey }));
    assert.equal(unknown.message, wording(5, "Could not find wallet account with address: 0xnobody"));
    const { wallets } = await sdk.getWallets();
    const { walletId } = at(wallets, 0);
    for (const bad of ["", "04", targetPublicKey.slice(2), `${targetPublicKey}00`, signerKey]) {
      assert.equal((await refusalOf(sdk.exportWallet({ walletId, targetPublicKey: bad }))).code, 3, bad);
    }
    const elsewhere = await refusalOf(heir.sdk.exportWallet({ walletId, targetPublicKey }));
    assert.equal(elsewhere.code, 5);
  });
}

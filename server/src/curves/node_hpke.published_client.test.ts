/** Bundles against the published client itself, with its public-key override: what it accepts, and what it sends. */
import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  makeExportBundle,
  makeImportTargetBundle,
  openImportBundle,
  parseTargetPublicKey,
} from "@keystead/core/crypto/bundles.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { joinExportText, splitImportText } from "@keystead/core/keys/wallet_text.ts";
import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
} from "@turnkey/crypto";
import { samples } from "../../../core/test/samples.ts";
import { nodeBundleSigner, nodeHpke } from "./node_hpke.ts";

/**
 * DER drops leading zeros of r and s, and a point may be even or odd: only many bundles meet every shape. With full counts
 * 10,000 go each way, three in every round.
 */
const rounds = samples.bundleRounds;
const bundles = 3 * rounds;

const signer = nodeBundleSigner(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
const dangerouslyOverrideSignerPublicKey = toHex(signer.publicKey);
const organizationId = "f9a31c64-d604-42e4-9bef-a773096afad7";
const userId = "6912b819-f4df-40f4-a192-20ee43090974";
const mnemonic = "test test test test test test test test test test test junk";
const ascii = (text: string) => new TextEncoder().encode(text);

type Client = ReturnType<typeof generateP256KeyPair>;

function exportFor({ publicKey }: { publicKey: string }, plaintext: Uint8Array): string {
  const targetPublicKey = parseTargetPublicKey(nodeHpke, publicKey);
  return makeExportBundle(nodeHpke, signer, { organizationId, targetPublicKey, plaintext });
}

const readExport = (client: Client, exportBundle: string, options: { returnMnemonic: boolean; keyFormat?: "SOLANA" }) =>
  decryptExportBundle({
    exportBundle,
    embeddedKey: client.privateKey,
    organizationId,
    dangerouslyOverrideSignerPublicKey,
    ...options,
  });

test(`the client reads ${bundles} exported wallets and private keys`, async (t) => {
  for (let round = 0; round < rounds; round++) {
    const client = generateP256KeyPair();
    const publicKey = round % 2 === 0 ? client.publicKey : client.publicKeyUncompressed;
    const wallet = exportFor({ publicKey }, joinExportText(ascii(mnemonic), undefined));
    assert.equal(await readExport(client, wallet, { returnMnemonic: true }), mnemonic);
    const withPassphrase = exportFor({ publicKey }, joinExportText(ascii(mnemonic), ascii("pass phrase")));
    assert.equal(await readExport(client, withPassphrase, { returnMnemonic: true }), `${mnemonic}\npass phrase`);
    const secret = Uint8Array.from(randomBytes(32));
    const key = exportFor({ publicKey: `0x${publicKey}` }, secret);
    assert.equal(await readExport(client, key, { returnMnemonic: false }), toHex(secret));
    // It appends the public key and writes both in base58, 64 bytes: that fails unless we sent exactly the seed.
    assert.match(
      await readExport(client, key, { returnMnemonic: false, keyFormat: "SOLANA" }),
      /^[1-9A-HJ-NP-Za-km-z]{80,90}$/,
    );
  }
  t.diagnostic(`${bundles} exported bundles read by the published client: ${rounds} keys of its own, 3 for each`);
});

test("the client refuses a bundle of another signer, for another organization or with another byte", async () => {
  const client = generateP256KeyPair();
  const bundle = exportFor(client, ascii(mnemonic));
  const read = (exportBundle: string, expected = organizationId, key = dangerouslyOverrideSignerPublicKey) =>
    decryptExportBundle({
      exportBundle,
      embeddedKey: client.privateKey,
      organizationId: expected,
      dangerouslyOverrideSignerPublicKey: key,
      returnMnemonic: true,
    });
  assert.equal(await read(bundle), mnemonic);
  await assert.rejects(read(bundle, userId), /organization id does not match/);
  await assert.rejects(read(bundle, organizationId, client.publicKeyUncompressed), /does not match signer key/);
  const outer = JSON.parse(bundle) as { data: string };
  const bent = { ...outer, data: outer.data.replace("22656e63", "22456e63") };
  assert.notEqual(bent.data, outer.data);
  await assert.rejects(read(JSON.stringify(bent)), /failed to verify enclave signature/);
});

test(`${bundles} wallets and private keys that the client encrypted to our targets open here`, async (t) => {
  for (let round = 0; round < rounds; round++) {
    const target = nodeHpke.generateKey();
    const targetPublicKey = nodeHpke.publicKey(target);
    const importBundle = makeImportTargetBundle(signer, { organizationId, userId, targetPublicKey });
    const common = { importBundle, userId, organizationId, dangerouslyOverrideSignerPublicKey };
    // A target waits in the database as sealed bytes.
    const kept = nodeHpke.importKey(nodeHpke.exportKey(target));

    const wallet = await encryptWalletToBundle({ ...common, mnemonic });
    assert.deepEqual(openImportBundle(nodeHpke, [kept], wallet).plaintext, ascii(mnemonic));
    const withPassphrase = await encryptWalletToBundle({ ...common, mnemonic: `${mnemonic}\n--PASS--\npäss` });
    const parts = splitImportText(openImportBundle(nodeHpke, [kept], withPassphrase).plaintext);
    assert.deepEqual(parts, { sentence: ascii(mnemonic), passphrase: ascii("päss") });

    const secret = toHex(randomBytes(32));
    const key = await encryptPrivateKeyToBundle({ ...common, privateKey: secret, keyFormat: "HEXADECIMAL" });
    const { plaintext } = openImportBundle(nodeHpke, [nodeHpke.generateKey(), kept], key);
    assert.equal(toHex(plaintext), secret);
    assert.throws(() => openImportBundle(nodeHpke, [nodeHpke.generateKey()], key), { code: "invalid_argument" });
  }
  t.diagnostic(`${bundles} bundles of the published client opened here: ${rounds} targets, 3 for each`);
});

test("the client's other spellings of a private key arrive as its 32 bytes", async () => {
  const target = nodeHpke.generateKey();
  const targetPublicKey = nodeHpke.publicKey(target);
  const importBundle = makeImportTargetBundle(signer, { organizationId, userId, targetPublicKey });
  const common = { importBundle, userId, organizationId, dangerouslyOverrideSignerPublicKey };
  const secret = new Uint8Array(32).fill(0x0c);
  const client = generateP256KeyPair();
  const solana = await readExport(client, exportFor(client, secret), { returnMnemonic: false, keyFormat: "SOLANA" });
  for (const [keyFormat, privateKey] of [
    ["HEXADECIMAL", `0x${toHex(secret)}`],
    ["SOLANA", solana],
  ] as const) {
    const bundle = await encryptPrivateKeyToBundle({ ...common, privateKey, keyFormat });
    assert.deepEqual(openImportBundle(nodeHpke, [target], bundle).plaintext, secret);
  }
});

test("the client refuses a target that was made for another user or organization", async () => {
  const targetPublicKey = nodeHpke.publicKey(nodeHpke.generateKey());
  const importBundle = makeImportTargetBundle(signer, { organizationId, userId, targetPublicKey });
  const encrypt = (claimed: { userId: string; organizationId: string }) =>
    encryptWalletToBundle({ importBundle, mnemonic, dangerouslyOverrideSignerPublicKey, ...claimed });
  await assert.rejects(encrypt({ userId: organizationId, organizationId }), /user id does not match/);
  await assert.rejects(encrypt({ userId, organizationId: userId }), /organization id does not match/);
});

/**
 * Secrets in and out, from the published client's side: through gateway and signer on both databases, with its bundles made and
 * read by its own package. In the end no row of the database holds any of the secrets, in whatever spelling.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { deriveKeyPair } from "@keystead/core/keys/derive.ts";
import { type Curve, curveNames, generatePrivateKey, keyCurves } from "@keystead/core/keys/key_curves.ts";
import { toSeed, toSentence } from "@keystead/core/keys/mnemonic.ts";
import { parsePath } from "@keystead/core/keys/path.ts";
import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
} from "@turnkey/crypto";
import { everyValue } from "../../test/every_value.ts";
import {
  type Activity,
  type ActivityPath,
  createGatewayRig,
  type GatewayRig,
  type Person,
} from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { type Spelling, sentenceSpellings, spellings } from "../../test/secret_spellings.ts";
import { nodeKeyMaths } from "../curves/node_key_maths.ts";
import { targetLifeMs } from "../rules/imports.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";
import type { Store } from "../store/store.ts";

/** The published client at one organization, as one user. */
type Client = {
  init(kind: "wallet" | "private_key", person?: Person): Promise<string>;
  encryptWallet(importBundle: string, mnemonic: string, person?: Person): Promise<string>;
  encryptPrivateKey(importBundle: string, secret: Uint8Array): Promise<string>;
  importWallet(walletName: string, encryptedBundle: string, accounts?: readonly object[]): Promise<WalletResult>;
  importPrivateKey(privateKeyName: string, encryptedBundle: string, curve: Curve): Promise<string>;
  /** What comes out: words as text, keys as hex. */
  take(path: ActivityPath, parameters: object, returnMnemonic: boolean): Promise<string>;
};

type WalletResult = { walletId: string; addresses: string[] };

const account = (curve: Curve, addressFormat: string, path = "m/44'/60'/0'/0/0") => {
  return { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat };
};

const oneOfEach = curveNames.map((curve) => account(curve, "ADDRESS_FORMAT_COMPRESSED"));

function clientOf(rig: GatewayRig): Client {
  const { organizationId, root, signer } = rig;
  const dangerouslyOverrideSignerPublicKey = openKeyring(signer.rootKey, 1, signer.keyring).publicKeys.signer;
  const common = { organizationId, dangerouslyOverrideSignerPublicKey };
  const resultOf = <T>({ result }: Activity): T => Object.values(result)[0] as T;
  return {
    async init(kind, person = root) {
      const activity = await rig.submit(person, `init_import_${kind}`, { userId: person.userId });
      return resultOf<{ importBundle: string }>(activity).importBundle;
    },
    encryptWallet: (importBundle, mnemonic, { userId } = root) =>
      encryptWalletToBundle({ ...common, importBundle, mnemonic, userId }),
    encryptPrivateKey: (importBundle, secret) =>
      encryptPrivateKeyToBundle({
        ...common,
        importBundle,
        userId: root.userId,
        privateKey: toHex(secret),
        keyFormat: "HEXADECIMAL",
      }),
    async importWallet(walletName, encryptedBundle, accounts = oneOfEach) {
      const parameters = { userId: root.userId, walletName, encryptedBundle, accounts };
      return resultOf(await rig.submit(root, "import_wallet", parameters));
    },
    async importPrivateKey(privateKeyName, encryptedBundle, curve) {
      const parameters = { userId: root.userId, privateKeyName, encryptedBundle, curve, addressFormats: [] };
      const activity = await rig.submit(root, "import_private_key", parameters);
      return resultOf<{ privateKeyId: string }>(activity).privateKeyId;
    },
    async take(path, parameters, returnMnemonic) {
      const { privateKey: embeddedKey, publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
      const activity = await rig.submit(root, path, { ...parameters, targetPublicKey });
      const { exportBundle } = resultOf<{ exportBundle: string }>(activity);
      return decryptExportBundle({ ...common, exportBundle, embeddedKey, returnMnemonic });
    },
  };
}

async function assertNowhere(store: Store, needles: readonly Spelling[], hay: readonly string[]): Promise<void> {
  const values = await everyValue(store);
  assert.ok(values.length > 100);
  for (const text of hay)
    assert.ok(
      values.some((value) => value.includes(text)),
      "the scan finds what is there",
    );
  for (const value of values) {
    const found = needles.find(({ bytes }) => value.includes(bytes));
    assert.equal(found, undefined, `a secret as ${found?.as} in a row`);
  }
}

const refusal =
  (message: string | RegExp, code: number) => (error: { failure?: { code: number; message: string } }) => {
    assert.equal(error.failure?.code, code);
    if (typeof message === "string") assert.equal(error.failure?.message, message);
    else assert.match(error.failure?.message ?? "", message);
    return true;
  };

const notOpened = refusal(/^invalid encrypted bundle: it does not open with a pending import of this user/, 3);

async function counts({ db }: Store): Promise<number[]> {
  const tables = ["wallets", "wallet_accounts", "private_keys"] as const;
  return Promise.all(tables.map(async (table) => (await db.selectFrom(table).selectAll().execute()).length));
}

function onBothDatabases(name: string, run: (t: TestContext, rig: GatewayRig, client: Client) => Promise<void>): void {
  for (const dialect of dialects) {
    test(`${dialect}: ${name}`, async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig !== undefined) await run(t, rig, clientOf(rig));
    });
  }
}

onBothDatabases("what was imported comes out again, and no row holds any of it", async (_t, rig, client) => {
  const needles: Spelling[] = [];
  const walletIds: string[] = [];
  for (const [n, length] of [16, 20, 24, 28, 32].entries()) {
    for (const passphrase of [undefined, `pass phrase ${n} of mine`]) {
      const entropy = Uint8Array.from(randomBytes(length));
      const language = "MNEMONIC_LANGUAGE_ENGLISH";
      const sentence = Buffer.from(toSentence(nodeKeyMaths, { entropy, language })).toString();
      const text = passphrase === undefined ? sentence : `${sentence}\n--PASS--\n${passphrase}`;
      const encrypted = await client.encryptWallet(await client.init("wallet"), text);
      const { walletId, addresses } = await client.importWallet(
        `Wallet ${length} ${passphrase !== undefined}`,
        encrypted,
      );
      walletIds.push(walletId);
      const exported = await client.take("export_wallet", { walletId }, true);
      assert.equal(exported, passphrase === undefined ? sentence : `${sentence}\n${passphrase}`);
      const seed = toSeed(nodeKeyMaths, { entropy, language }, Buffer.from(passphrase ?? ""));
      for (const [index, curve] of curveNames.entries()) {
        const { privateKey, publicKey } = deriveKeyPair(nodeKeyMaths, curve, seed, parsePath("m/44'/60'/0'/0/0"));
        assert.equal(addresses[index], toHex(publicKey.compressed));
        const key = await client.take("export_wallet_account", { address: addresses[index] }, false);
        assert.equal(key, toHex(privateKey));
        needles.push(...spellings(Buffer.from(privateKey)));
      }
      needles.push(...sentenceSpellings(sentence), ...spellings(Buffer.from(entropy)), ...spellings(Buffer.from(seed)));
      if (passphrase !== undefined) needles.push(...spellings(Buffer.from(passphrase)));
    }
  }
  for (const curve of curveNames) {
    const secret = generatePrivateKey(curve, (size) => Uint8Array.from(randomBytes(size)));
    const encrypted = await client.encryptPrivateKey(await client.init("private_key"), secret);
    const privateKeyId = await client.importPrivateKey(`Key ${curve}`, encrypted, curve);
    assert.equal(await client.take("export_private_key", { privateKeyId }, false), toHex(secret));
    needles.push(...spellings(Buffer.from(secret)));
  }
  const { db } = rig.store;
  for (const { exported, imported } of await db.selectFrom("wallets").selectAll().execute()) {
    assert.deepEqual([exported, imported].map(Number), [1, 1]);
  }
  assert.deepEqual(await counts(rig.store), [10, 30, 3]);
  await assertNowhere(rig.store, needles, walletIds);
});

onBothDatabases("what was made here comes out, and comes in elsewhere as the same key", async (_t, rig, client) => {
  const wallet = { walletName: "Made", accounts: [account("CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")] };
  const made = await rig.submit(rig.root, "create_wallet", { ...wallet, mnemonicLength: 24 });
  const { walletId, addresses } = made.result.createWalletResult as WalletResult;
  const sentence = await client.take("export_wallet", { walletId }, true);
  assert.equal(sentence.split(" ").length, 24);
  const again = await client.encryptWallet(await client.init("wallet"), sentence);
  const known = refusal(`seed for wallet ${walletId} already imported in this organization`, 6);
  await assert.rejects(client.importWallet("Again", again), known);
  await rig.submit(rig.root, "delete_wallets", { walletIds: [walletId] });
  await assert.rejects(client.take("export_wallet", { walletId }, true), refusal(/^unable to find wallet/, 5));
  const returned = await client.importWallet("Again", again, wallet.accounts);
  assert.deepEqual(returned.addresses, addresses);
  assert.notEqual(returned.walletId, walletId);
  await assertNowhere(rig.store, sentenceSpellings(sentence), [returned.walletId]);
});

onBothDatabases(
  "bad bundles and bad secrets are refused, and leave a failed activity and nothing else",
  async (_t, rig, client) => {
    const { root, store, signer } = rig;
    const sentence = "test test test test test test test test test test test junk";
    const target = await client.init("wallet");
    const good = await client.encryptWallet(target, sentence);
    const badChecksum = await client.encryptWallet(target, sentence.replace("junk", "test"));
    const keyTarget = await client.init("private_key");
    const tooLarge = await client.encryptPrivateKey(keyTarget, keyCurves.CURVE_SECP256K1.order);
    const tooShort = await client.encryptPrivateKey(keyTarget, new Uint8Array(31).fill(7));
    const bob = await rig.newPerson("bob");
    const activitiesBefore = (await store.db.selectFrom("activities").selectAll().execute()).length;
    const stateBefore = await store.db.selectFrom("organizations").select(["version", "header"]).execute();

    const checksum = refusal("invalid mnemonic: its checksum does not match", 3);
    await assert.rejects(client.importWallet("Bad", badChecksum), checksum);
    const range = refusal("invalid private key: not in the curve's range", 3);
    await assert.rejects(client.importPrivateKey("Bad", tooLarge, "CURVE_SECP256K1"), range);
    const length = refusal("invalid private key: expected 32 bytes", 3);
    await assert.rejects(client.importPrivateKey("Bad", tooShort, "CURVE_ED25519"), length);
    await assert.rejects(client.importPrivateKey("Bad", good, "CURVE_ED25519"), notOpened);
    await assert.rejects(client.importWallet("Bad", `${good.slice(0, -4)}00"}`), notOpened);
    await assert.rejects(client.importWallet("Bad", "{}"), notOpened);
    // Root is as little allowed to import for another as anyone: refused before the bundle is looked at.
    const denied = refusal("You don't have sufficient permissions to take this action.", 7);
    for (const [path, parameters] of [
      ["init_import_wallet", {}],
      ["init_import_private_key", {}],
      ["import_wallet", { walletName: "Bad", encryptedBundle: good, accounts: [] }],
      ["import_private_key", { privateKeyName: "Bad", encryptedBundle: good, curve: "CURVE_P256", addressFormats: [] }],
    ] as const) {
      await assert.rejects(rig.submit(root, path, { ...parameters, userId: bob.userId }), denied);
      await assert.rejects(rig.submit(bob, path, { ...parameters, userId: root.userId }), denied);
      await assert.rejects(rig.submit(bob, path, { ...parameters, userId: bob.userId }), denied);
    }

    assert.deepEqual(await counts(store), [0, 0, 0]);
    assert.deepEqual(await store.db.selectFrom("organizations").select(["version", "header"]).execute(), stateBefore);
    const activities = await store.db.selectFrom("activities").select(["status", "failure"]).execute();
    assert.equal(activities.length, activitiesBefore + 6 + 12);
    assert.equal(activities.filter(({ status }) => status === "ACTIVITY_STATUS_FAILED").length, 6);
    assert.equal(activities.filter(({ status }) => status === "ACTIVITY_STATUS_REJECTED").length, 12);

    // A failure uses nothing up: the right bundle still opens, once.
    await client.importWallet("Good", good);
    await assert.rejects(client.importWallet("Twice", good), notOpened);
    const late = await client.encryptWallet(await client.init("wallet"), sentence.replaceAll("test", "junk"));
    signer.clock.nowMs += targetLifeMs;
    await assert.rejects(client.importWallet("Late", late), notOpened);
    assert.deepEqual(await counts(store), [1, 3, 0]);
  },
);

onBothDatabases("the same body again is the same export, and no second bundle", async (_t, rig, client) => {
  const secret = generatePrivateKey("CURVE_P256", (size) => Uint8Array.from(randomBytes(size)));
  const encrypted = await client.encryptPrivateKey(await client.init("private_key"), secret);
  const privateKeyId = await client.importPrivateKey("Key", encrypted, "CURVE_P256");
  const { publicKey: targetPublicKey } = generateP256KeyPair();
  const body = rig.body("export_private_key", { privateKeyId, targetPublicKey });
  const first = await rig.send(rig.root, "export_private_key", body);
  const second = await rig.send(rig.root, "export_private_key", body);
  assert.deepEqual(second.result, first.result);
  assert.equal(second.id, first.id);
});

onBothDatabases(
  "another organization finds none of our keys, and its targets take nothing of ours",
  async (_t, rig, client) => {
    const sentence = "test test test test test test test test test test test junk";
    const ethereum = [account("CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")];
    const encrypted = await client.encryptWallet(await client.init("wallet"), sentence);
    const { walletId, addresses } = await client.importWallet("Main", encrypted, ethereum);
    const { organizationId, people } = await rig.newSubOrganization(1, ["cleo"]);
    const [cleo] = people;
    assert.ok(cleo);
    const { publicKey: targetPublicKey } = generateP256KeyPair();
    const within = { organizationId };
    for (const [path, parameters] of [
      ["export_wallet", { walletId }],
      ["export_wallet_account", { address: addresses[0] }],
      ["export_private_key", { privateKeyId: walletId }],
    ] as const) {
      const params = { ...parameters, targetPublicKey };
      await assert.rejects(rig.submit(cleo, path, params, within), refusal(/^(unable to|Could not) find/, 5));
    }
    // The same seed in another organization is no secret of ours: it comes in there, and neither says so.
    const init = await rig.submit(cleo, "init_import_wallet", { userId: cleo.userId }, within);
    const { importBundle } = init.result.initImportWalletResult as { importBundle: string };
    const dangerouslyOverrideSignerPublicKey = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring).publicKeys.signer;
    const bundle = await encryptWalletToBundle({
      importBundle,
      mnemonic: sentence,
      userId: cleo.userId,
      organizationId,
      dangerouslyOverrideSignerPublicKey,
    });
    await assert.rejects(client.importWallet("Stray", bundle), notOpened);
    const parameters = { userId: cleo.userId, walletName: "Main", encryptedBundle: bundle, accounts: ethereum };
    const { result } = await rig.submit(cleo, "import_wallet", parameters, within);
    assert.deepEqual((result.importWalletResult as WalletResult).addresses, addresses);
  },
);

onBothDatabases("an account is found by its address, though a private key has the same", async (_t, rig, client) => {
  const sentence = "test test test test test test test test test test test junk";
  const ethereum = account("CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM");
  const secret = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
  const encryptedKey = await client.encryptPrivateKey(await client.init("private_key"), Buffer.from(secret, "hex"));
  const parameters = { userId: rig.root.userId, privateKeyName: "Key", encryptedBundle: encryptedKey };
  const formats = { curve: ethereum.curve, addressFormats: [ethereum.addressFormat] };
  await rig.submit(rig.root, "import_private_key", { ...parameters, ...formats });
  rig.signer.clock.nowMs += 1_000;
  const encrypted = await client.encryptWallet(await client.init("wallet"), sentence);
  const { addresses } = await client.importWallet("Main", encrypted, [ethereum]);
  assert.equal(await client.take("export_wallet_account", { address: addresses[0] }, false), secret);
});

onBothDatabases(
  "of two imports of one seed at once, one comes in and the other is told so",
  async (_t, rig, client) => {
    const sentence = "test test test test test test test test test test test junk";
    const bundles = [
      await client.encryptWallet(await client.init("wallet"), sentence),
      await client.encryptWallet(await client.init("wallet"), sentence),
    ];
    const outcomes = await Promise.allSettled(bundles.map((bundle, n) => client.importWallet(`Wallet ${n}`, bundle)));
    const [first] = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const [second] = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    assert.equal(second?.failure?.message, `seed for wallet ${first?.walletId} already imported in this organization`);
    assert.deepEqual(await counts(rig.store), [1, 3, 0]);
    const again = generateP256KeyPair().publicKey;
    await rig.submit(rig.root, "export_wallet", { walletId: first?.walletId, targetPublicKey: again });
  },
);

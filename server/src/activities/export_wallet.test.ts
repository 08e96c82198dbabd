import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import type { MnemonicLanguage } from "@keystead/core/keys/word_lists.ts";
import { finish } from "@keystead/core/work.ts";
import { activityContext, nowMs, runActivity } from "../../test/activity_context.ts";
import { exportClient, signedPart } from "../../test/imports.ts";
import { type KeyAccessContent, testKeyAccess } from "../../test/key_access.ts";
import { after, organization, person } from "../../test/members.ts";
import { nodeKeyMaths } from "../curves/node_key_maths.ts";
import type { NewRecord } from "../endpoints/key_access.ts";
import { newWallet, parseAccounts } from "../rules/wallets.ts";
import { put } from "../state/entities.ts";
import { exportPrivateKey } from "./export_private_key.ts";
import { exportWallet } from "./export_wallet.ts";
import { exportWalletAccount } from "./export_wallet_account.ts";
import { initImportWallet } from "./init_import_wallet.ts";

const pages = organization({ users: [person("ann")] });
const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const;

type Kept = { entropy?: Uint8Array; passphrase?: string; language?: MnemonicLanguage };

/** The records of a wallet with one account. */
function wallet({ entropy = Uint8Array.from(randomBytes(16)), passphrase, language }: Kept = {}): NewRecord[] {
  const context = activityContext();
  const work = newWallet(context, {
    organizationId: "acme",
    walletName: "Main",
    language: language ?? "MNEMONIC_LANGUAGE_ENGLISH",
    secret: passphrase === undefined ? { entropy } : { entropy, passphrase: Buffer.from(passphrase) },
    imported: false,
    accounts: parseAccounts([ethereum]),
  });
  return finish(work).records;
}

const privateKey: NewRecord = {
  record: {
    kind: "privateKey",
    organizationId: "acme",
    privateKeyId: "key",
    privateKeyName: "Main",
    curve: "CURVE_ED25519",
    publicKey: "",
    addresses: [],
    imported: false,
    createdAtMs: nowMs,
  },
  secret: Uint8Array.from(randomBytes(32)),
};

type Asked = { walletId?: string; targetPublicKey?: string; language?: "MNEMONIC_LANGUAGE_FRENCH" | null };

function exportFrom(content: KeyAccessContent, { walletId = "new 0", ...asked }: Asked, from = pages) {
  const client = exportClient();
  const params = { walletId, targetPublicKey: client.targetPublicKey, ...asked };
  const outcome = runActivity(exportWallet, from, params, { keys: testKeyAccess(content) });
  const { exportBundle } = outcome.result;
  return {
    ...outcome,
    signed: signedPart(exportBundle),
    read: () => Buffer.from(client.read(exportBundle)).toString(),
  };
}

test("the words of a wallet of every length, behind them its passphrase", () => {
  for (const length of [16, 20, 24, 28, 32]) {
    const entropy = Uint8Array.from(randomBytes(length));
    const sentence = Buffer.from(toSentence(nodeKeyMaths, { entropy, language: "MNEMONIC_LANGUAGE_ENGLISH" }));
    assert.equal(exportFrom({ records: wallet({ entropy }) }, {}).read(), sentence.toString());
    const { read } = exportFrom({ records: wallet({ entropy, passphrase: "päss phrase" }) }, {});
    assert.equal(read(), `${sentence}\npäss phrase`);
  }
});

test("the wallet counts as exported from then on, and keeps what else is known about it", () => {
  const records = wallet();
  const facts = [{ id: "new 0", kind: "wallet", name: "Renamed", updatedAtMs: 1 } as const];
  const { changes, result } = exportFrom({ records, facts }, {});
  const exported = { id: "new 0", kind: "wallet", name: "Renamed", exported: true, updatedAtMs: nowMs } as const;
  assert.deepEqual(changes, [put("keyFacts", exported), put("keyCounts", { ...pages.keyCounts, exported: 1 })]);
  assert.equal(result.walletId, "new 0");
  assert.equal(exportFrom({ records, facts: [exported] }, {}).changes.length, 1, "it can be exported again");
});

test("the bundle names the organization, and is another one each time", () => {
  const records = wallet();
  const [first, second] = [exportFrom({ records }, {}), exportFrom({ records }, {})];
  assert.equal(first.signed.organizationId, "acme");
  assert.deepEqual(Object.keys(first.signed), ["encappedPublic", "ciphertext", "organizationId"]);
  assert.notEqual(first.signed.ciphertext, second.signed.ciphertext);
});

test("a wallet speaks its own language; in another it would be another wallet", () => {
  const entropy = Uint8Array.from(randomBytes(16));
  const language = "MNEMONIC_LANGUAGE_FRENCH";
  const records = wallet({ entropy, language });
  const sentence = Buffer.from(toSentence(nodeKeyMaths, { entropy, language })).toString();
  for (const asked of [{}, { language } as const, { language: null }]) {
    assert.equal(exportFrom({ records }, asked).read(), sentence);
  }
  assert.throws(() => exportFrom({ records: wallet() }, { language }), {
    code: "invalid_argument",
    message: /^invalid language: this wallet's words are MNEMONIC_LANGUAGE_ENGLISH/,
  });
});

test("a wallet that is not there, or was deleted, is not found", () => {
  const records = wallet();
  const missing = { code: "not_found", message: "unable to find wallet other in organization acme" };
  assert.throws(() => exportFrom({ records }, { walletId: "other" }), missing);
  const facts = [{ id: "new 0", kind: "wallet", deleted: true, updatedAtMs: 1 } as const];
  assert.throws(() => exportFrom({ records, facts }, {}), { code: "not_found" });
  const account = records[1]?.record;
  assert.ok(account?.kind === "walletAccount");
  const { address } = account;
  const params = { address, targetPublicKey: exportClient().targetPublicKey };
  assert.throws(() => runActivity(exportWalletAccount, pages, params, { keys: testKeyAccess({ records, facts }) }), {
    code: "not_found",
    message: `Could not find wallet account with address: ${address}`,
  });
});

test("a key of the server's own is no target: none of its service keys nor a pending import's", () => {
  const records = wallet();
  const { bundleSigner, notarizer } = testKeyAccess();
  const init = runActivity(initImportWallet, pages, { userId: "ann" });
  const { targetPublic = "" } = signedPart(init.result.importBundle);
  const refusal = {
    code: "invalid_argument",
    message: "invalid target public key: this is a key of the server itself",
  };
  const short = (/[13579bdf]$/.test(targetPublic) ? "03" : "02") + targetPublic.slice(2, 66);
  for (const ours of [bundleSigner, notarizer].map(({ publicKey }) => toHex(publicKey))) {
    assert.throws(() => exportFrom({ records }, { targetPublicKey: ours }), refusal);
    assert.throws(() => exportFrom({ records }, { targetPublicKey: ours.toUpperCase() }), refusal);
  }
  for (const targetPublicKey of [targetPublic, short, `0x${short}`]) {
    assert.throws(() => exportFrom({ records }, { targetPublicKey }, after(pages, init)), refusal);
  }
});

test("a target that is no point of P-256 is refused", () => {
  const records = wallet();
  for (const targetPublicKey of ["00", "zz", `02${"ff".repeat(32)}`, `04${"11".repeat(64)}`, "04"]) {
    assert.throws(() => exportFrom({ records }, { targetPublicKey }), {
      code: "invalid_argument",
      message: /^invalid target public key: expected the 66 or 130 hex digits/,
    });
  }
});

test("an account is exported as its 32 bytes, under any spelling of its address, and without its wallet", () => {
  const records = wallet();
  const account = records[1];
  assert.ok(account?.record.kind === "walletAccount");
  const { address, walletAccountId } = account.record;
  const client = exportClient();
  for (const spelled of [address, address.toLowerCase()]) {
    const params = { address: spelled, targetPublicKey: client.targetPublicKey };
    const { changes, result } = runActivity(exportWalletAccount, pages, params, { keys: testKeyAccess({ records }) });
    assert.deepEqual(client.read(result.exportBundle), account.secret);
    assert.equal(result.address, spelled);
    assert.deepEqual(changes, [
      put("keyFacts", { id: walletAccountId, kind: "walletAccount", exported: true, updatedAtMs: nowMs }),
    ]);
  }
});

test("a private key is exported as its 32 bytes; what is no private key of ours is not found", () => {
  const client = exportClient();
  const { targetPublicKey } = client;
  const records = [privateKey, ...wallet()];
  const run = (privateKeyId: string, content: KeyAccessContent = { records }) =>
    runActivity(exportPrivateKey, pages, { privateKeyId, targetPublicKey }, { keys: testKeyAccess(content) });
  const { changes, result } = run("key");
  assert.deepEqual(client.read(result.exportBundle), privateKey.secret);
  assert.deepEqual(changes, [
    put("keyFacts", { id: "key", kind: "privateKey", exported: true, updatedAtMs: nowMs }),
    put("keyCounts", { ...pages.keyCounts, exported: 1 }),
  ]);
  for (const id of ["new 0", "new 1", "other"]) {
    assert.throws(() => run(id), {
      code: "not_found",
      message: `unable to find private key ${id} in organization acme`,
    });
  }
  const facts = [{ id: "key", kind: "privateKey", deleted: true, updatedAtMs: 1 } as const];
  assert.throws(() => run("key", { records, facts }), { code: "not_found" });
});

test("bundles are sealed until they are released, and policies see what is exported", () => {
  for (const activity of [exportWallet, exportWalletAccount, exportPrivateKey]) assert.equal(activity.sealed, true);
  const params = { walletId: "w", address: "a", privateKeyId: "k", targetPublicKey: "04" };
  assert.deepEqual(exportWallet.policySubject?.(params), { by: "wallet", walletId: "w" });
  assert.deepEqual(exportWalletAccount.policySubject?.(params), { by: "account", address: "a" });
  assert.deepEqual(exportPrivateKey.policySubject?.(params), { by: "privateKey", privateKeyId: "k" });
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { deriveKeyPair } from "@keystead/core/keys/derive.ts";
import { toSeed, toSentence } from "@keystead/core/keys/mnemonic.ts";
import { parsePath } from "@keystead/core/keys/path.ts";
import { mnemonicLanguages } from "@keystead/core/keys/word_lists.ts";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { encryptTo } from "../../test/imports.ts";
import { type KeyAccessContent, testKeyAccess } from "../../test/key_access.ts";
import { after, organization, person } from "../../test/members.ts";
import { nodeKeyMaths } from "../curves/node_key_maths.ts";
import type { WalletAccountParams } from "../fields/wallets.ts";
import { targetLifeMs } from "../rules/imports.ts";
import { put, remove } from "../state/entities.ts";
import type { Pages } from "../state/pages.ts";
import { decodeWalletSecret } from "../state/wallet_secret.ts";
import { importWallet } from "./import_wallet.ts";
import { initImportPrivateKey } from "./init_import_private_key.ts";
import { initImportWallet } from "./init_import_wallet.ts";

const members = organization({ users: [person("ann"), person("bob")] });
const junk = "test test test test test test test test test test test junk";
const ethereum: WalletAccountParams = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};

function init(pages: Pages = members, userId = "ann", activity = initImportWallet, targetId = "target") {
  const outcome = runActivity(activity, pages, { userId }, { userId, newId: () => targetId });
  return { importBundle: outcome.result.importBundle, pages: after(pages, outcome) };
}

type Import = {
  userId?: string;
  walletName?: string;
  accounts?: WalletAccountParams[];
  content?: KeyAccessContent;
  context?: ContextChanges;
};

function importBundle(pages: Pages, encryptedBundle: string, options: Import = {}) {
  const { userId = "ann", walletName = "Main", accounts = [ethereum], content, context } = options;
  const keys = testKeyAccess(content);
  const params = { userId, walletName, encryptedBundle, accounts };
  return runActivity(importWallet, pages, params, { userId, keys, ...context });
}

/** An import of this text, with a target of its own. */
function importText(text: string | Uint8Array, options: Import = {}) {
  const { importBundle: target, pages } = init();
  return importBundle(pages, encryptTo(target, text), options);
}

const notOpened = {
  code: "invalid_argument",
  message: "invalid encrypted bundle: it does not open with a pending import of this user, which lasts one use",
};

test("the wallet and its accounts come in, the target goes, and the wallet counts", () => {
  const { changes, records, result } = importText(junk);
  assert.deepEqual(changes, [remove("importTarget", "target"), put("keyCounts", { ...members.keyCounts, wallets: 1 })]);
  assert.deepEqual(result, { walletId: "new 0", addresses: ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"] });
  const [wallet, account] = records ?? [];
  assert.deepEqual(wallet?.record, {
    kind: "wallet",
    organizationId: "acme",
    walletId: "new 0",
    walletName: "Main",
    tag: wallet?.record.tag,
    language: "MNEMONIC_LANGUAGE_ENGLISH",
    imported: true,
    createdAtMs: nowMs,
  });
  assert.equal(account?.record.kind, "walletAccount");
  assert.equal(typeof wallet?.blindIndex, "string");
});

test("every length and every language comes in as its entropy, as people write it", () => {
  for (const language of mnemonicLanguages) {
    for (const length of [16, 20, 24, 28, 32]) {
      const entropy = Uint8Array.from(randomBytes(length));
      const sentence = Buffer.from(toSentence(nodeKeyMaths, { entropy, language })).toString("utf8");
      for (const text of [sentence, `  ${sentence.normalize("NFC").toUpperCase()}\n`]) {
        const [wallet] = importText(text, { accounts: [] }).records ?? [];
        assert.ok(wallet?.record.kind === "wallet");
        // A sentence can lie in two lists; then it is the same seed under both.
        const secret = decodeWalletSecret(wallet.secret);
        const seed = toSeed(nodeKeyMaths, { entropy, language });
        assert.deepEqual(toSeed(nodeKeyMaths, { ...secret, language: wallet.record.language }), seed);
      }
    }
  }
});

test("a passphrase stays with the wallet and changes its keys", () => {
  const { records, result } = importText(`${junk}\n--PASS--\npäss\nphrase`);
  const [wallet] = records ?? [];
  assert.ok(wallet);
  const { entropy, passphrase } = decodeWalletSecret(wallet.secret);
  assert.equal(Buffer.from(passphrase ?? []).toString("utf8"), "päss\nphrase");
  const seed = toSeed(nodeKeyMaths, { entropy, language: "MNEMONIC_LANGUAGE_ENGLISH" }, passphrase);
  const { privateKey } = deriveKeyPair(nodeKeyMaths, "CURVE_SECP256K1", seed, parsePath(ethereum.path));
  assert.deepEqual(records?.[1]?.secret, privateKey);
  assert.notDeepEqual(result.addresses, importText(junk).result.addresses);
  assert.deepEqual(importText(`${junk}\n--PASS--\n`).result.addresses, importText(junk).result.addresses);
});

test("words that are no mnemonic are refused without being repeated, and the target stays", () => {
  for (const [text, message] of [
    [junk.replace("junk", "test"), "invalid mnemonic: its checksum does not match"],
    [junk.replace("junk", "keystead"), "invalid mnemonic: its words are not all in one BIP-39 word list"],
    [junk.replace(" junk", ""), "invalid mnemonic: expected 12, 15, 18, 21 or 24 words"],
    ["", "invalid mnemonic: expected 12, 15, 18, 21 or 24 words"],
    [Uint8Array.of(0xff, 0xfe), "invalid mnemonic: not UTF-8"],
    ["test ".repeat(1_000), "invalid mnemonic: too long"],
    [`${junk}\n--PASS--\n${"p".repeat(5_000)}`, "invalid passphrase: too long"],
  ] as const) {
    assert.throws(() => importText(text), { code: "invalid_argument", message });
  }
});

test("a bundle that does not open answers alike, whatever is wrong with it", () => {
  const { importBundle: target, pages } = init();
  const good = encryptTo(target, junk);
  const { encappedPublic, ciphertext } = JSON.parse(good);
  const { importBundle: other } = init(members, "bob");
  const { importBundle: keyTarget, pages: keyPages } = init(members, "ann", initImportPrivateKey);
  for (const [bundle, state, options] of [
    ["not JSON", pages, {}],
    ["{}", pages, {}],
    [JSON.stringify({ encappedPublic, ciphertext: `${ciphertext.slice(0, -2)}00` }), pages, {}],
    [JSON.stringify({ encappedPublic: `02${encappedPublic.slice(2, 66)}`, ciphertext }), pages, {}],
    [JSON.stringify({ encappedPublic, ciphertext: "" }), pages, {}],
    [good, members, {}],
    [encryptTo(other, junk), pages, {}],
    [good, pages, { userId: "bob" }],
    [encryptTo(keyTarget, junk), keyPages, {}],
    [good, pages, { context: { nowMs: nowMs + targetLifeMs } }],
  ] as [string, Pages, Import][]) {
    assert.throws(() => importBundle(state, bundle, options), notOpened, bundle.slice(0, 60));
  }
  assert.ok(importBundle(pages, good, { context: { nowMs: nowMs + targetLifeMs - 1 } }));
});

test("a target that was used is gone; each of several pending ones opens its own bundle", () => {
  let pages = members;
  const bundles = [0, 1, 2, 3, 4].map((n) => {
    const made = init(pages, "ann", initImportWallet, `target ${n}`);
    pages = made.pages;
    return encryptTo(made.importBundle, junk);
  });
  for (const [n, bundle] of bundles.entries()) {
    const outcome = importBundle(pages, bundle);
    assert.deepEqual(outcome.changes[0], remove("importTarget", `target ${n}`));
    assert.throws(() => importBundle(after(pages, outcome), bundle), notOpened);
  }
});

test("a seed that the organization has is refused by name of its wallet, until that one is deleted", () => {
  const [wallet] = importText(junk).records ?? [];
  assert.ok(wallet);
  const records = [wallet];
  const refusal = { code: "already_exists", message: "seed for wallet new 0 already imported in this organization" };
  assert.throws(() => importText(junk, { walletName: "Again", content: { records } }), refusal);
  const facts = [{ id: "new 0", kind: "wallet", deleted: true, updatedAtMs: nowMs } as const];
  assert.ok(importText(junk, { walletName: "Again", content: { records, facts } }));
  assert.ok(importText(`${junk}\n--PASS--\nx`, { walletName: "Again", content: { records } }));
});

test("names, paths, formats, repetitions and the limit are checked before the bundle is opened", () => {
  const [wallet] = importText(junk).records ?? [];
  assert.ok(wallet);
  const bad = "no bundle at all";
  assert.throws(() => importBundle(members, bad, { content: { records: [wallet] } }), {
    code: "invalid_argument",
    message: /wallet label must be unique/,
  });
  assert.throws(() => importBundle(members, bad, { accounts: [{ ...ethereum, path: "m/x" }] }), {
    message: /^invalid path: write it like m/,
  });
  assert.throws(() => importBundle(members, bad, { accounts: [{ ...ethereum, curve: "CURVE_P256" }] }), {
    message: "invalid curve: ADDRESS_FORMAT_ETHEREUM needs CURVE_SECP256K1",
  });
  const again = { ...ethereum, path: "m/44h/60H/0'/0/0" };
  assert.throws(() => importBundle(members, bad, { accounts: [ethereum, again] }), {
    code: "invalid_argument",
    message: "invalid path: accounts 0 and 1 of the request are the same",
  });
  const named = [
    { ...ethereum, name: "Main" },
    { ...ethereum, path: "m/1", name: "MAIN" },
  ];
  assert.throws(() => importBundle(members, bad, { accounts: named }), {
    code: "invalid_argument",
    message: "wallet account label must be unique: `MAIN` exists",
  });
  const full = { ...members, keyCounts: { ...members.keyCounts, wallets: 1 } };
  assert.throws(() => importBundle(full, bad, { context: { limits: { walletsPerOrganization: 1 } } }), {
    code: "resource_exhausted",
  });
  assert.throws(() => importBundle(members, bad, { userId: "eve" }), { code: "not_found" });
});

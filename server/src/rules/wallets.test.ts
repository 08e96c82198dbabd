import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { isPrivateKey } from "@keystead/core/keys/key_curves.ts";
import { parseSentence, toSentence } from "@keystead/core/keys/mnemonic.ts";
import { finish } from "@keystead/core/work.ts";
import { activityContext, nowMs } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { nodeSigning } from "../curves/node_signing.ts";
import type { KeyAccess, NewRecord } from "../endpoints/key_access.ts";
import type { WalletAccountParams } from "../fields/wallets.ts";
import type { WalletRecord } from "../state/records.ts";
import { decodeWalletSecret, seedOfWallet } from "../state/wallet_secret.ts";
import {
  accountWishes,
  deriveAddresses,
  generateWallet,
  newAccounts,
  newWallet,
  openSeed,
  parseAccounts,
  refuseRepeatedAccounts,
  refuseTakenPlaces,
  walletWishes,
} from "./wallets.ts";

const maths = nodeSigning.keys;
const { entropy, language } = parseSentence(maths, new TextEncoder().encode(`${"test ".repeat(11)}junk`));
const junk = { language, secret: { entropy } };

function account(path: string, format: string, curve: WalletAccountParams["curve"] = "CURVE_SECP256K1") {
  const addressFormat = `ADDRESS_FORMAT_${format}` as WalletAccountParams["addressFormat"];
  return { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat } as const satisfies WalletAccountParams;
}

const ethereum = account("m/44'/60'/0'/0/0", "ETHEREUM");
const solana = account("m/44'/501'/0'/0'", "SOLANA", "CURVE_ED25519");

function make(accounts: readonly WalletAccountParams[], changes: object = {}, keys = testKeyAccess()) {
  const draft = { organizationId: "acme", walletName: "w", imported: false, ...junk, ...changes };
  const context = activityContext({ keys });
  const asked = parseAccounts(accounts);
  refuseRepeatedAccounts(asked);
  return finish(newWallet(context, { ...draft, accounts: asked }));
}

/** Published addresses of this mnemonic, one per curve and scheme. */
const known: [params: WalletAccountParams, address: string][] = [
  [ethereum, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],
  [solana, "oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96"],
  [
    account("m/44'/60'/0'/0/0", "COMPRESSED", "CURVE_P256"),
    "025fa82925afaf3e85fa0bc1732969b0933f20f67f56621562dcfb922e3f3574bb",
  ],
  [
    account("m/86'/0'/0'/0/0", "BITCOIN_MAINNET_P2TR"),
    "bc1pfzhx49qe6s5exppe5hqljg3n6587xk0w75xqr70pgdt7ygnfkssqxqjd9l",
  ],
  [account("m/44h/195H/0'/0/0", "TRON"), "TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6"],
  [account("m/44'/60'/0'/0/0", "COMPRESSED"), "038318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75"],
];

test("a known mnemonic gives its known addresses, in the order asked for, one record each", () => {
  const { walletId, addresses, records } = make(known.map(([params]) => params));
  assert.deepEqual(
    addresses,
    known.map(([, address]) => address),
  );
  assert.deepEqual(
    addresses,
    finish(deriveAddresses(testKeyAccess(), seedOf(records), parseAccounts(known.map(([params]) => params)))),
  );
  const [wallet, first] = records;
  assert.deepEqual(wallet?.record, {
    kind: "wallet",
    organizationId: "acme",
    walletId,
    walletName: "w",
    tag: wallet?.record.tag,
    language: "MNEMONIC_LANGUAGE_ENGLISH",
    imported: false,
    createdAtMs: nowMs,
  });
  assert.equal(walletId, "new 0");
  const { pathFormat: _, ...asked } = ethereum;
  assert.deepEqual(first?.record, {
    kind: "walletAccount",
    organizationId: "acme",
    walletAccountId: "new 1",
    tag: first?.record.tag,
    walletId,
    wallet: { walletName: "w", imported: false },
    ...asked,
    address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    publicKey: "038318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75",
    createdAtMs: nowMs,
  });
  assert.equal(toHex(first?.secret ?? entropy), "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
  for (const { record, secret } of records.slice(1)) {
    assert.ok(record.kind === "walletAccount" && isPrivateKey(record.curve, secret));
  }
  assert.deepEqual(decodeWalletSecret(wallet?.secret ?? entropy), { entropy });
});

function seedOf(records: readonly NewRecord[]): Uint8Array {
  return seedOfWallet(maths, "MNEMONIC_LANGUAGE_ENGLISH", records[0]?.secret ?? new Uint8Array());
}

test("a key is derived once however many formats it has, and each record has a secret of its own to be wiped", () => {
  let steps = 0;
  const counting = {
    ...maths,
    hmacSha512(key: Uint8Array, data: Uint8Array) {
      steps += 1;
      return maths.hmacSha512(key, data);
    },
  };
  const keys: KeyAccess = { ...testKeyAccess(), signing: { ...nodeSigning, keys: counting } };
  const formats = ["ETHEREUM", "TRON", "COSMOS", "UNCOMPRESSED"].map((format) => account(ethereum.path, format));
  const { records } = make([...formats, { ...account("m/44H/60h/0'/0/0", "XRP") }], {}, keys);
  assert.equal(steps, 1 + 5);
  const [first, ...others] = records.slice(1).map(({ secret }) => secret);
  first?.fill(0);
  for (const secret of others) assert.ok(secret.some((byte) => byte !== 0));
});

test("the same mnemonic has one blind index per organization, whether it was made or imported", () => {
  const index = (changes: object = {}) => make([], changes).records[0]?.blindIndex;
  assert.equal(index(), index({ walletName: "other", imported: true }));
  assert.notEqual(index(), index({ organizationId: "sub" }));
  assert.notEqual(index(), index({ secret: { entropy, passphrase: Uint8Array.of(1) } }));
  assert.notEqual(index(), index({ language: "MNEMONIC_LANGUAGE_SPANISH" }));
});

test("an imported seed that is there is refused with its wallet; a deleted one is not there", () => {
  const made = make([]);
  const keys = testKeyAccess({ records: made.records });
  assert.throws(() => make([], { imported: true }, keys), {
    code: "already_exists",
    message: `seed for wallet ${made.walletId} already imported in this organization`,
  });
  const facts = [{ id: made.walletId, kind: "wallet", deleted: true, updatedAtMs: nowMs }] as const;
  assert.equal(make([], { imported: true }, testKeyAccess({ records: made.records, facts })).records.length, 1);
});

test("new words are drawn for every length, in English, and the entropy is wiped", () => {
  for (const [words, length] of [
    [12, 16],
    [15, 20],
    [18, 24],
    [21, 28],
    [24, 32],
    [undefined, 16],
    [null, 16],
  ] as const) {
    const drawn: Uint8Array[] = [];
    const keyAccess = testKeyAccess();
    const random = (size: number) => {
      const bytes = keyAccess.random(size);
      drawn.push(bytes);
      return bytes;
    };
    const context = activityContext({ keys: { ...keyAccess, random } });
    const params = { walletName: "w", ...(words !== undefined && { mnemonicLength: words }) };
    const { records } = finish(generateWallet(context, "acme", params, []));
    const secret = decodeWalletSecret(records[0]?.secret ?? new Uint8Array());
    assert.equal(secret.entropy.length, length);
    assert.ok(secret.entropy.some((byte) => byte !== 0));
    const sentence = new TextDecoder().decode(toSentence(maths, { ...secret, language }));
    assert.equal(sentence.split(" ").length, words ?? 12);
    assert.deepEqual(drawn, [new Uint8Array(length)]);
  }
});

test("a seed is opened from the wallet's record, and the opened secret wiped", () => {
  const { records } = make([]);
  const keyAccess = testKeyAccess({ records });
  const opened: Uint8Array[] = [];
  const open: KeyAccess["open"] = (record) => {
    const secret = keyAccess.open(record);
    opened.push(secret);
    return secret;
  };
  const seed = openSeed({ ...keyAccess, open }, keyAccess.records[0] as WalletRecord);
  assert.match(toHex(seed), /^9dfc3c64c2f8bede1533b6a79f8570e5/);
  assert.ok(opened[0]?.every((byte) => byte === 0));
});

const badPath =
  "invalid path: write it like m/44'/60'/0'/0/0, each number below 2147483648, with ' or h after a hardened one";

test("paths, formats and pairs that do not go together are refused one by one", () => {
  const wrong: [message: string, params: object][] = [
    [badPath, { path: "" }],
    [badPath, { path: "m/" }],
    [badPath, { path: "m/44''" }],
    [badPath, { path: "m/4294967296" }],
    ["invalid address format", { addressFormat: "ADDRESS_FORMAT_X" }],
    ["invalid curve: ADDRESS_FORMAT_ETHEREUM needs CURVE_SECP256K1", { curve: "CURVE_X" }],
    ["invalid curve: ADDRESS_FORMAT_ETHEREUM needs CURVE_SECP256K1", { curve: "CURVE_ED25519" }],
  ];
  for (const [message, params] of wrong) {
    const asked = [solana, { ...ethereum, ...params } as WalletAccountParams];
    assert.throws(() => parseAccounts(asked), { code: "invalid_argument", message });
  }
  assert.equal(parseAccounts([account("m", "ETHEREUM")])[0]?.pathKey, "m");
});

test("a request takes a bounded number of steps", () => {
  const deep = (components: number, index: number) => account(`m${"/0".repeat(components - 1)}/${index}`, "ETHEREUM");
  const full = Array.from({ length: 4 }, (_, index) => deep(250, index));
  assert.equal(parseAccounts(full).length, 4);
  assert.throws(() => parseAccounts([...full, account("m/0", "ETHEREUM")]), {
    code: "invalid_argument",
    message: "invalid path: the paths of one request may have 1000 components in all",
  });
});

test("the same account twice in one request is refused, the same name too", () => {
  const isSame = { code: "invalid_argument", message: "invalid path: accounts 0 and 1 of the request are the same" };
  assert.throws(() => make([ethereum, { ...ethereum, path: "m/44h/60h/0h/0/0" }]), isSame);
  assert.throws(() => make([solana, { ...solana, path: "m/44'/501'/0/0" }]), isSame);
  assert.equal(make([ethereum, { ...ethereum, path: "m/44/60'/0'/0/0" }]).records.length, 3);
  const named = [
    { ...ethereum, name: "Main" },
    { ...solana, name: "MAIN" },
  ];
  assert.throws(() => make(named), {
    code: "invalid_argument",
    message: "wallet account label must be unique: `MAIN` exists",
  });
});

test("an account at the same place of the same wallet is in the way, a deleted one or another wallet's is not", () => {
  const language = "MNEMONIC_LANGUAGE_ENGLISH";
  const born = { walletName: "w", language, imported: false, createdAtMs: 0 } as const;
  const wallet = { kind: "wallet", organizationId: "acme", walletId: "w", ...born } as const;
  const context = activityContext();
  const asked = parseAccounts([ethereum, solana]);
  const { records } = finish(newAccounts(context, wallet, new Uint8Array(64), asked));
  const keyAccess = testKeyAccess({ records });
  const refuse = (keys: KeyAccess, walletId: string, asked: WalletAccountParams) =>
    refuseTakenPlaces(keys, walletId, parseAccounts([account("m/7", "ETHEREUM"), asked]));
  const exists = (id: string) => ({ code: "already_exists", message: `path already exists in wallet account ${id}` });
  assert.throws(() => refuse(keyAccess, "w", ethereum), exists("new 0"));
  assert.throws(() => refuse(keyAccess, "w", { ...solana, path: "m/44'/501'/0'/0" }), exists("new 1"));
  refuse(keyAccess, "w", account(ethereum.path, "TRON"));
  refuse(keyAccess, "w", { ...account(ethereum.path, "COMPRESSED", "CURVE_P256") });
  refuse(keyAccess, "another", ethereum);
  for (const [kind, id] of [
    ["walletAccount", "new 0"],
    ["wallet", "w"],
  ] as const) {
    refuse(testKeyAccess({ records, facts: [{ id, kind, deleted: true, updatedAtMs: nowMs }] }), "w", ethereum);
  }
});

test("wishes name whatever may be in the way, and never throw", () => {
  const named = { ...ethereum, name: "n" };
  assert.deepEqual(walletWishes({ walletName: "w", accounts: [named, solana] }), [
    { by: "name", kind: "wallet", name: "w" },
    { by: "name", kind: "walletAccount", name: "n" },
  ]);
  const { curve, addressFormat } = ethereum;
  assert.deepEqual(
    accountWishes("id", [
      { ...named, path: "m/44h/60h/0h/0/0" },
      { ...solana, path: "nonsense" },
    ]),
    [
      { by: "id", kind: "wallet", id: "id" },
      { by: "place", walletId: "id", pathKey: ethereum.path, curve, addressFormat },
      { by: "name", kind: "walletAccount", name: "n" },
    ],
  );
});

test("a name of null is no name", () => {
  const [, made] = make([{ ...ethereum, name: null }]).records;
  assert.ok(made?.record.kind === "walletAccount");
  assert.equal("name" in made.record, false);
});

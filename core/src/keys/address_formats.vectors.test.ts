/** Addresses against other implementations: two tables made with the ledgers' own libraries, and third-party vectors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors, type Vectors } from "../../test/vectors.ts";
import { nobleCurves } from "../crypto/noble_curves.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { type AddressFormat, getAddressFormat, getAddressUse } from "./address_formats.ts";
import { addressKey } from "./address_spelling.ts";
import { deriveKeyPair } from "./derive.ts";
import type { Curve } from "./key_curves.ts";
import { publicKeyOf } from "./key_curves.ts";
import { parseSentence, toSeed } from "./mnemonic.ts";
import { nobleKeyMaths } from "./noble_key_maths.ts";
import { parsePath } from "./path.ts";

const utf8 = new TextEncoder();

function seedOf(sentence: string, passphrase = ""): Uint8Array {
  return toSeed(nobleKeyMaths, parseSentence(nobleKeyMaths, utf8.encode(sentence)), utf8.encode(passphrase));
}

function deriveAddress(seed: Uint8Array, format: string, curve: Curve, path: string): string {
  const { publicKey } = deriveKeyPair(nobleKeyMaths, curve, seed, parsePath(path));
  return getAddressUse(format, curve).encode(publicKey);
}

/** The only curve of a format, or the one that its vectors are on. */
function curveOf(format: AddressFormat): Curve {
  const [curve] = Object.keys(getAddressFormat(format).curves) as Curve[];
  return curve ?? assert.fail(format);
}

/** What the tables leave unsaid about some of their lines: curve and path, in the words of the line. */
const unsaid: Record<string, [format: AddressFormat, curve: Curve, path: string]> = {
  "COMPRESSED secp m/44/60": ["ADDRESS_FORMAT_COMPRESSED", "CURVE_SECP256K1", "m/44'/60'/0'/0/0"],
  "UNCOMPRESSED secp": ["ADDRESS_FORMAT_UNCOMPRESSED", "CURVE_SECP256K1", "m/44'/60'/0'/0/0"],
  "COMPRESSED p256 m/44'/60'/0'/0/0": ["ADDRESS_FORMAT_COMPRESSED", "CURVE_P256", "m/44'/60'/0'/0/0"],
  "UNCOMPRESSED p256": ["ADDRESS_FORMAT_UNCOMPRESSED", "CURVE_P256", "m/44'/60'/0'/0/0"],
  "COMPRESSED ed25519 m/44/501/0/0": ["ADDRESS_FORMAT_COMPRESSED", "CURVE_ED25519", "m/44'/501'/0'/0'"],
  "TON pub": ["ADDRESS_FORMAT_COMPRESSED", "CURVE_ED25519", "m/44'/607'/0'/0'/0'"],
  "SPARK id pub": ["ADDRESS_FORMAT_COMPRESSED", "CURVE_SECP256K1", "m/8797555'/0'/0'"],
};

/** Other scripts that P2SH and P2WSH could have stood for: listed so that nobody mistakes ours for them. */
const notOurs = /^BITCOIN_\w+_P2W?SH\((P2PKH|P2PK)\) m\/49'$|^BITCOIN_\w+_P2WSH\(P2PKH\) m\/48'$/;
const bitcoinPaths: Record<string, string> = { "m/49'": "/0'/0/0", "m/48'": "/0'/2'/0/0" };

function checkTable(vectors: Vectors, file: string, sentence: string): { equal: number; others: number } {
  const seed = seedOf(sentence);
  const lines = new TextDecoder()
    .decode(vectors.bytes(`../reference/${file}`))
    .trim()
    .split("\n");
  assert.equal(lines.length, 65);
  let [equal, others] = [0, 0];
  for (const line of lines) {
    const [label = "", value = ""] = line.split(" | ");
    const said = unsaid[label];
    const ton = /^(TON_V\dR\d) (raw|EQ|UQ)$/.exec(label);
    const usual = /^(\w+?)(?:\(P2WPKH\)|\(P2PK\))? (m\/[\d'/]+)(?: \(helper\))?$/.exec(label);
    if (said !== undefined) {
      assert.equal(deriveAddress(seed, ...said), value, label);
    } else if (label === "spark lib") {
      const both = JSON.parse(value) as { m: string; r: string };
      assert.equal(deriveAddress(seed, "ADDRESS_FORMAT_SPARK_MAINNET", "CURVE_SECP256K1", "m/8797555'/0'/0'"), both.m);
      assert.equal(deriveAddress(seed, "ADDRESS_FORMAT_SPARK_REGTEST", "CURVE_SECP256K1", "m/8797555'/0'/0'"), both.r);
    } else if (ton !== null) {
      const [, name, form] = ton;
      const ours = deriveAddress(seed, `ADDRESS_FORMAT_${name}`, "CURVE_ED25519", "m/44'/607'/0'/0'/0'");
      if (form === "EQ") assert.equal(ours, value, label);
      assert.equal(addressKey(ours), addressKey(value), label);
    } else if (notOurs.test(label)) {
      const [, name = "", , path = ""] = /^(\w+)\((\w+)\) (.+)$/.exec(label) ?? [];
      const coin = name.includes("MAINNET") ? "0'" : "1'";
      const ours = deriveAddress(
        seed,
        `ADDRESS_FORMAT_${name}`,
        "CURVE_SECP256K1",
        `${path}/${coin}${bitcoinPaths[path]}`,
      );
      assert.notEqual(ours, value, label);
      others++;
      continue;
    } else {
      const [, name = "", path = ""] = usual ?? assert.fail(`a line nobody reads: ${label}`);
      const format = `ADDRESS_FORMAT_${name}` as AddressFormat;
      assert.equal(deriveAddress(seed, format, curveOf(format), path), value, label);
    }
    equal++;
  }
  return { equal, others };
}

test("every line of the two address tables", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const junk = "test test test test test test test test test test test junk";
  assert.deepEqual(checkTable(vectors, "address-vectors-junk.txt", junk), { equal: 53, others: 12 });
  const about = `${"abandon ".repeat(11)}about`;
  assert.deepEqual(checkTable(vectors, "address-vectors-about.txt", about), { equal: 53, others: 12 });
});

test("Sei accounts on Ed25519 follow CometBFT's rule", () => {
  const seed = seedOf("test test test test test test test test test test test junk");
  const address = deriveAddress(seed, "ADDRESS_FORMAT_SEI", "CURVE_ED25519", "m/44'/118'/0'/0/0");
  assert.equal(address, "sei1pkh5lx07ufakvvnjzfn3jax9gythzldglwtk3d");
});

test("twelve ledgers' addresses of one private key, from a wallet library's tests", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = { privateKey: string; cases: { addressFormat: AddressFormat; curve: Curve; address: string }[] };
  const { privateKey, cases } = vectors.json<File>("chain-addresses/walletcore-cpp.json");
  for (const { addressFormat, curve, address } of cases) {
    const publicKey = publicKeyOf(nobleKeyMaths, curve, fromHex(privateKey));
    const ours = getAddressUse(addressFormat, curve).encode(publicKey);
    // That library prints TON accounts in the form for wallets, we in the form for contracts: one account.
    if (addressFormat === "ADDRESS_FORMAT_TON_V4R2") assert.equal(addressKey(ours), addressKey(address));
    else assert.equal(ours, address, addressFormat);
  }
  assert.equal(cases.length, 12);
});

test("the XRP Ledger's own key pair; its Ed25519 accounts are outside our table", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Pair = { keypair: { privateKey: string; publicKey: string }; address: string };
  const pairs = vectors.json<Record<"secp256k1" | "ed25519", Pair>>("chain-addresses/ripple-keypairs.json");
  const { keypair, address } = pairs.secp256k1;
  const publicKey = publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", fromHex(keypair.privateKey.slice(2)));
  assert.equal(toHex(publicKey.compressed), keypair.publicKey.toLowerCase());
  assert.equal(getAddressUse("ADDRESS_FORMAT_XRP", "CURVE_SECP256K1").encode(publicKey), address);
  assert.ok(pairs.ed25519.address !== undefined);
  assert.throws(() => getAddressUse("ADDRESS_FORMAT_XRP", "CURVE_ED25519"), {
    message: "invalid curve: ADDRESS_FORMAT_XRP needs CURVE_SECP256K1",
  });
});

test("Stellar's SEP-5: three mnemonics, seeds and thirty accounts", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Wallet = { mnemonic: string; passphrase: string; seed: string; keys: { path: string; address: string }[] };
  let count = 0;
  for (const wallet of vectors.json<Wallet[]>("chain-addresses/stellar-sep5.json")) {
    const seed = seedOf(wallet.mnemonic, wallet.passphrase);
    assert.equal(toHex(seed), wallet.seed);
    for (const { path, address } of wallet.keys) {
      assert.equal(deriveAddress(seed, "ADDRESS_FORMAT_XLM", "CURVE_ED25519", path), address);
      count++;
    }
  }
  assert.equal(count, 30);
});

test("a hardware wallet's addresses of four ledgers", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = {
    setup: { mnemonic: string; passphrase: string };
    tests: { parameters: { path: string }; result: { address?: string; expected_address?: string } }[];
  };
  const files: [file: string, format: AddressFormat, cases: number][] = [
    ["ethereum/getaddress.json", "ADDRESS_FORMAT_ETHEREUM", 6],
    ["ethereum/signmessage.json", "ADDRESS_FORMAT_ETHEREUM", 6],
    ["solana/get_address.json", "ADDRESS_FORMAT_SOLANA", 3],
    ["stellar/get_address.json", "ADDRESS_FORMAT_XLM", 10],
    ["tron/get_address.json", "ADDRESS_FORMAT_TRON", 5],
  ];
  for (const [file, format, cases] of files) {
    const { setup, tests }: File = vectors.json(`trezor-fixtures/${file}`);
    const seed = seedOf(setup.mnemonic, setup.passphrase);
    for (const { parameters, result } of tests) {
      const address = deriveAddress(seed, format, curveOf(format), parameters.path);
      assert.equal(address, result.address ?? result.expected_address, file);
    }
    assert.equal(tests.length, cases);
  }
});

test("Ethereum accounts of ethers, checksums included", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const accounts = vectors.json<{ privateKey: string; address: string }[]>("ethers/accounts.json");
  const { encode } = getAddressUse("ADDRESS_FORMAT_ETHEREUM", "CURVE_SECP256K1");
  for (const { privateKey, address } of accounts) {
    assert.equal(encode(publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", fromHex(privateKey.slice(2)))), address);
  }
  assert.equal(accounts.length, 173);
});

test("ethereum/tests: two keys and their addresses, but not their signatures", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Case = { seed: string; key: string; addr: string; sig_of_emptystring: { r: string; s: string } };
  const cases = vectors.json<Case[]>("ethereum-tests/BasicTests/keyaddrtest.json");
  const { encode } = getAddressUse("ADDRESS_FORMAT_ETHEREUM", "CURVE_SECP256K1");
  const digest = nobleCurves.keccak256(new Uint8Array());
  const keys = cases.map(({ seed, key, addr }) => {
    const privateKey = nobleCurves.keccak256(utf8.encode(seed));
    assert.equal(toHex(privateKey), key);
    const publicKey = publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", privateKey);
    assert.equal(encode(publicKey).toLowerCase(), `0x${addr}`);
    return publicKey.compressed;
  });
  // Excluded, both: their name promises keccak256 of nothing, and over that they verify under no key of the file.
  const to32 = (decimal: string) => fromHex(BigInt(decimal).toString(16).padStart(64, "0"));
  const holding = cases.filter(({ sig_of_emptystring: { r, s } }) =>
    keys.some((key) => nobleCurves.verifySecp256k1(key, digest, Uint8Array.of(...to32(r), ...to32(s)))),
  );
  assert.deepEqual([keys.length, holding.length], [2, 0]);
});

test("BIP-84's accounts", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = { mnemonic: string; sections: { path: string; pubkey?: string; address?: string }[] };
  const { mnemonic, sections } = vectors.json<File>("bitcoin-bips/bip84.json");
  const seed = seedOf(mnemonic);
  let count = 0;
  for (const { path, pubkey, address } of sections) {
    // The one section without an address shows extended keys, a form that no endpoint reads or writes.
    if (address === undefined) continue;
    const { publicKey } = deriveKeyPair(nobleKeyMaths, "CURVE_SECP256K1", seed, parsePath(path));
    assert.equal(toHex(publicKey.compressed), pubkey);
    assert.equal(deriveAddress(seed, "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH", "CURVE_SECP256K1", path), address);
    count++;
  }
  assert.deepEqual([count, sections.length], [3, 4]);
});

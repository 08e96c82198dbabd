/** Bitcoin scripts and addresses against the vectors of the BIPs, Bitcoin Core and bitcoinjs-lib. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors } from "../../../test/vectors.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { publicKeyOf } from "../key_curves.ts";
import { nobleKeyMaths } from "../noble_key_maths.ts";
import {
  type BitcoinNetwork,
  bitcoinAddress,
  bitcoinNetworks,
  bitcoinScripts,
  parseBitcoinAddress,
} from "./bitcoin.ts";
import { taprootOutputKey, taprootPrivateKey } from "./taproot.ts";

const networks = Object.keys(bitcoinNetworks) as BitcoinNetwork[];

function reads(network: BitcoinNetwork, address: string): boolean {
  try {
    parseBitcoinAddress(network, address);
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "invalid_argument", address);
    return false;
  }
}

const opcodes: Record<string, number> = {
  ...{ OP_0: 0x00, OP_1: 0x51, OP_2: 0x52, OP_16: 0x60, OP_TRUE: 0x51, OP_RETURN: 0x6a, OP_RESERVED: 0x50 },
  ...{ OP_DUP: 0x76, OP_EQUAL: 0x87, OP_EQUALVERIFY: 0x88, OP_HASH160: 0xa9, OP_HASH256: 0xaa, OP_CHECKSIG: 0xac },
  OP_CHECKMULTISIG: 0xae,
};

/** The scripts of bitcoinjs-lib's fixtures: opcodes by name, pushes in hex. */
function assemble(script: string): Uint8Array {
  return Uint8Array.from(
    script.split(" ").flatMap((word) => {
      const opcode = opcodes[word];
      return opcode === undefined ? [word.length / 2, ...fromHex(word)] : [opcode];
    }),
  );
}

test("Bitcoin Core's addresses, both ways, in both cases and on no other network", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const chains: Record<string, BitcoinNetwork> = {
    main: "mainnet",
    testnet4: "testnet", // the same constants as testnet3
    signet: "signet",
    regtest: "regtest",
  };
  type Case = [text: string, hex: string, about: { chain: string; isPrivkey: boolean; tryCaseFlip?: boolean }];
  let [addresses, keys] = [0, 0];
  for (const [text, hex, { chain, isPrivkey, tryCaseFlip }] of vectors.json<Case[]>("bitcoin-core/key_io_valid.json")) {
    const network = chains[chain] ?? assert.fail(chain);
    if (isPrivkey) {
      // Private keys in WIF are made and read by clients only; here they are not addresses.
      for (const any of networks) assert.equal(reads(any, text), false);
      keys++;
      continue;
    }
    assert.equal(toHex(parseBitcoinAddress(network, text)), hex);
    assert.equal(bitcoinAddress(network, fromHex(hex)), text);
    if (tryCaseFlip) assert.equal(toHex(parseBitcoinAddress(network, text.toUpperCase())), hex);
    if (network === "mainnet") assert.ok(!reads("testnet", text) && !reads("regtest", text));
    else assert.ok(!reads("mainnet", text));
    addresses++;
  }
  assert.deepEqual([addresses, keys], [37, 10]);
});

test("Bitcoin Core's invalid texts are addresses of no network", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const cases = vectors.json<[string][]>("bitcoin-core/key_io_invalid.json");
  for (const [text] of cases) for (const network of networks) assert.equal(reads(network, text), false, text);
  assert.equal(cases.length, 47);
});

test("bitcoinjs-lib's addresses and their refusals", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = {
    standard: { network: string; base58check?: string; bech32?: string; script: string }[];
    bech32: { address: string; version: number; prefix: string; data: string }[];
    invalid: {
      bech32: { address: string }[];
      fromBase58Check: { address: string }[];
      fromOutputScript: { script: string; description?: string }[];
      toOutputScript: { address: string; paymentException?: string }[];
    };
  };
  const file = vectors.json<File>("bitcoin-core/bitcoinjs-address.json");
  const ours: Record<string, BitcoinNetwork> = { bitcoin: "mainnet", testnet: "testnet", regtest: "regtest" };
  let [standard, litecoin] = [0, 0];
  for (const { network: theirs, base58check, bech32, script } of file.standard) {
    const network = ours[theirs];
    const address = base58check ?? bech32 ?? assert.fail();
    if (network === undefined) {
      for (const any of networks) assert.equal(reads(any, address), false);
      litecoin++;
      continue;
    }
    assert.deepEqual(parseBitcoinAddress(network, address), assemble(script));
    assert.equal(bitcoinAddress(network, assemble(script)), base58check ?? address.toLowerCase());
    standard++;
  }
  assert.deepEqual([standard, litecoin], [14, 2]);

  for (const { address, version, prefix, data } of file.bech32) {
    const network = prefix === "bc" ? "mainnet" : "testnet";
    const opcode = version === 0 ? 0 : 0x50 + version;
    assert.equal(toHex(parseBitcoinAddress(network, address)), toHex(Uint8Array.of(opcode, data.length / 2)) + data);
  }
  assert.equal(file.bech32.length, 4);

  // Two kinds of refusal are that library's alone: x coordinates off the curve are valid outputs that nobody can spend,
  // which neither the address format nor Bitcoin Core looks into.
  const offCurve = "bc1pllllllllllllllllllllllllllllllllllllllllllllallllshsdfvw2y";
  const { bech32, fromBase58Check, fromOutputScript, toOutputScript } = file.invalid;
  for (const { address } of [...bech32, ...fromBase58Check, ...toOutputScript]) {
    const isRead = networks.some((network) => reads(network, address));
    // Refused there only because the fixture's own network is called `foo`.
    const isOfAnotherNetwork = address === "BC1SW50QGDZ25J";
    assert.equal(isRead, address === offCurve || isOfAnotherNetwork, address);
  }
  for (const { script, description } of fromOutputScript) {
    const isOffCurve = description === "pubkey is not valid x coordinate";
    assert.equal(bitcoinAddress("mainnet", assemble(script)) !== undefined, isOffCurve, script);
  }
  assert.deepEqual(
    [bech32.length, fromBase58Check.length, fromOutputScript.length, toOutputScript.length],
    [7, 2, 8, 24],
  );
});

const paymentScripts = ["p2pkh", "p2sh", "p2wpkh"] as const;

type Payment = {
  pubkey?: string;
  output?: string;
  address?: string;
  network?: string;
  redeem?: { output?: string; network?: string };
};
type PaymentFile = {
  valid: { arguments: Payment; expected: Payment }[];
  invalid: { arguments: Record<string, string> }[];
  dynamic: { details: Payment[] };
};

test("bitcoinjs-lib's payments: what a key, hash or script pays to", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  let [outputs, fromKeys, redeems] = [0, 0, 0];
  for (const script of paymentScripts) {
    const file: PaymentFile = vectors.json(`bitcoin-core/bitcoinjs-${script}.json`);
    // `details` are whole payments too; `depends` says which of its parts that library works out from which others.
    const whole = file.dynamic.details.map((details) => ({ arguments: details, expected: details }));
    for (const { arguments: given, expected } of [...file.valid, ...whole]) {
      const network = (given.redeem?.network ?? given.network) === "testnet" ? "testnet" : "mainnet";
      const output = assemble(expected.output ?? given.output ?? assert.fail());
      const address = expected.address ?? given.address ?? assert.fail();
      assert.equal(bitcoinAddress(network, output), address);
      assert.deepEqual(parseBitcoinAddress(network, address), output);
      outputs++;
      const pubkey = given.pubkey ?? expected.pubkey;
      if (pubkey !== undefined && script !== "p2sh") {
        assert.deepEqual(bitcoinScripts[script](fromHex(pubkey)).output, output);
        fromKeys++;
      }
      if (given.redeem?.output?.startsWith("OP_0 ")) {
        // The key behind that hash stands in the fixture's witness.
        const key = fromHex("03e15819590382a9dd878f01e2f0cbce541564eb415e43b440472d883ecd283058");
        const scripts = bitcoinScripts.p2sh(key);
        assert.deepEqual(scripts.output, output);
        assert.deepEqual(scripts.redeem, assemble(given.redeem.output));
        redeems++;
      }
    }
  }
  assert.deepEqual([outputs, fromKeys, redeems], [27, 8, 3]);
});

test("bitcoinjs-lib's refused payments: such an address is none, or one of another type, and such a script has none", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { refused: 0, otherType: 0, scripts: 0, excluded: 0 };
  for (const script of paymentScripts) {
    const { length } = bitcoinScripts[script](new Uint8Array(33)).output;
    const file: PaymentFile = vectors.json(`bitcoin-core/bitcoinjs-${script}.json`);
    for (const { arguments: given } of file.invalid) {
      const [[name, value = ""] = [], ...others] = Object.entries(given);
      if (name === "address" && others.length === 0) {
        const reading = networks.filter((network) => reads(network, value));
        for (const network of reading) assert.notEqual(parseBitcoinAddress(network, value).length, length);
        counts[reading.length === 0 ? "refused" : "otherType"]++;
      } else if ((name === "output" || name === "outputHex") && others.length === 0) {
        const output = name === "output" ? assemble(value) : fromHex(value);
        for (const network of networks) assert.equal(bitcoinAddress(network, output), undefined, value);
        counts.scripts++;
      } else {
        // Arguments of that library's constructors that lack or contradict one another, and scripts that spend.
        counts.excluded++;
      }
    }
  }
  assert.deepEqual(counts, { refused: 7, otherType: 2, scripts: 8, excluded: 47 });
});

test("BIP-341: the output without a script tree, its address, and the private keys that spend it", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = {
    scriptPubKey: {
      given: { internalPubkey: string; scriptTree: unknown };
      expected: { scriptPubKey: string; bip350Address: string };
    }[];
    keyPathSpending: {
      inputSpending: {
        given: { internalPrivkey: string; merkleRoot: string | null };
        intermediary: { tweakedPrivkey: string };
      }[];
    }[];
  };
  const { scriptPubKey, keyPathSpending } = vectors.json<File>("bitcoin-bips/bip341-scriptPubKey.json");
  let keys = 0;
  for (const { given, expected } of scriptPubKey) {
    assert.equal(bitcoinAddress("mainnet", fromHex(expected.scriptPubKey)), expected.bip350Address);
    assert.equal(toHex(parseBitcoinAddress("mainnet", expected.bip350Address)), expected.scriptPubKey);
    // Script trees are outside the wire: an account's output is its key alone.
    if (given.scriptTree !== null) continue;
    for (const sign of ["02", "03"]) {
      assert.equal(`5120${toHex(taprootOutputKey(fromHex(sign + given.internalPubkey)))}`, expected.scriptPubKey);
    }
    keys++;
  }
  assert.deepEqual([keys, scriptPubKey.length], [1, 5]);

  let tweaked = 0;
  const spendings = keyPathSpending.flatMap(({ inputSpending }) => inputSpending);
  for (const { given, intermediary } of spendings) {
    if (given.merkleRoot !== null) continue;
    const privateKey = fromHex(given.internalPrivkey);
    const { compressed } = publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", privateKey);
    const output = taprootPrivateKey(nobleKeyMaths, privateKey, compressed);
    assert.equal(toHex(output), intermediary.tweakedPrivkey);
    assert.equal(toHex(privateKey), given.internalPrivkey, "the key itself is left alone");
    const own = publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", output).compressed.subarray(1);
    assert.deepEqual(own, Uint8Array.from(taprootOutputKey(compressed)));
    tweaked++;
  }
  assert.deepEqual([tweaked, spendings.length], [1, 7]);
});

test("scripts that are no payment to one address have none", () => {
  for (const hex of [
    ...["", "00", "50", "51", "6a", "6a0568656c6c6f", "0014", "0015".padEnd(46, "0"), "5101aa", "5129".padEnd(86, "0")],
    ...["0020".padEnd(66, "0"), "0014".padEnd(46, "0"), "6114".padEnd(44, "0"), "5014".padEnd(44, "0")],
    `76a914${"00".repeat(20)}88ad`,
    `76a914${"00".repeat(20)}88acac`,
    `a914${"00".repeat(20)}88`,
    `a915${"00".repeat(20)}87`,
    `21${"02".repeat(33)}ac`,
  ]) {
    assert.equal(bitcoinAddress("mainnet", fromHex(hex)), undefined, hex);
  }
});

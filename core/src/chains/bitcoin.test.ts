import assert from "node:assert/strict";
import { test } from "node:test";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import * as btc from "@scure/btc-signer";
import { assertCost } from "../../test/cost.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { taprootPrivateKey } from "../keys/addresses/taproot.ts";
import { nobleKeyMaths } from "../keys/noble_key_maths.ts";
import { bitcoinFacts, parseBitcoin } from "./bitcoin.ts";
import { getSigningInputs, type SpendableScript, withBitcoinSignatures } from "./bitcoin_signing.ts";
import {
  type BitcoinInput,
  type BitcoinTransaction,
  bitcoinId,
  parseBitcoinTransaction,
  serialiseBitcoinTransaction,
  toTxId,
} from "./bitcoin_transaction.ts";
import { type Psbt, type PsbtPair, parsePsbt, serialisePsbt } from "./psbt.ts";

const privateKey = fromHex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const strangersKey = fromHex("59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d");
const publicKey = secp256k1.getPublicKey(privateKey, true);
const strangersPublicKey = secp256k1.getPublicKey(strangersKey, true);
const noEntropy = new Uint8Array(32);

/** Our own signer's part, with noble: plain RFC 6979, and BIP-340 with fixed entropy. */
function signWith(psbt: Psbt, types: readonly SpendableScript[]): Uint8Array {
  const inputs = getSigningInputs(psbt, publicKey, types);
  const signed = inputs.map((input) => ({
    input,
    signature:
      input.scheme === "ecdsa"
        ? secp256k1.sign(input.digest, privateKey, { prehash: false })
        : schnorr.sign(input.digest, taprootPrivateKey(nobleKeyMaths, privateKey, publicKey), noEntropy),
  }));
  return withBitcoinSignatures(psbt, publicKey, signed);
}

/** Every script of a key, as the other library makes it. */
function paymentsOf(key: Uint8Array) {
  return {
    p2pkh: btc.p2pkh(key),
    p2sh: btc.p2sh(btc.p2wpkh(key)),
    p2wpkh: btc.p2wpkh(key),
    p2wsh: btc.p2wsh(btc.p2pk(key)),
    p2tr: btc.p2tr(key.subarray(1)),
    p2sh_p2pkh: btc.p2sh(btc.p2pkh(key)),
    p2sh_p2pk: btc.p2sh(btc.p2pk(key)),
  } satisfies Record<SpendableScript, unknown>;
}

const types = Object.keys(paymentsOf(publicKey)) as SpendableScript[];
const legacyTypes: readonly SpendableScript[] = ["p2pkh", "p2sh_p2pkh", "p2sh_p2pk"];

/** A transaction that pays the script, to be spent. */
function funding(script: Uint8Array, value: bigint): BitcoinTransaction {
  const input = {
    previousId: new Uint8Array(32).fill(7),
    vout: 0,
    scriptSig: new Uint8Array(),
    sequence: 0,
    witness: [],
  };
  return { version: 2, inputs: [input], outputs: [{ value, scriptPubKey: script }], lockTime: 0 };
}

type Given = { type: SpendableScript; key?: Uint8Array; value?: bigint; withBoth?: boolean };

function inputOf({ type, key = publicKey, value = 100_000n, withBoth = false }: Given) {
  const payment: { script: Uint8Array; redeemScript?: Uint8Array; witnessScript?: Uint8Array } = paymentsOf(key)[type];
  const previous = funding(payment.script, value);
  const whole = { nonWitnessUtxo: serialiseBitcoinTransaction(previous) };
  const claimed = { witnessUtxo: { script: payment.script, amount: value } };
  return {
    txid: toTxId(bitcoinId(previous)),
    index: 0,
    sequence: 0xfffffffd,
    ...(legacyTypes.includes(type) ? whole : withBoth ? { ...whole, ...claimed } : claimed),
    ...(payment.redeemScript && { redeemScript: payment.redeemScript }),
    ...(payment.witnessScript && { witnessScript: payment.witnessScript }),
    ...(type === "p2tr" && { tapInternalKey: key.subarray(1) }),
  };
}

const destination = btc.p2wpkh(strangersPublicKey);

/** A PSBT that the other library wrote, and the same still open there. */
function written(...given: readonly Given[]): { bytes: Uint8Array; other: btc.Transaction } {
  const other = new btc.Transaction({ version: 2, lockTime: 840_000, allowLegacyWitnessUtxo: true });
  for (const one of given) other.addInput(inputOf(one));
  other.addOutput({ script: destination.script, amount: 90_000n });
  return { bytes: other.toPSBT(0), other };
}

for (const type of types) {
  test(`${type}: the signature is the one another library makes, and the transaction is complete with it`, () => {
    const { bytes, other } = written({ type });
    const signed = signWith(parseBitcoin(bytes), [type]);
    other.sign(privateKey, undefined, noEntropy);
    assert.equal(toHex(signed), toHex(other.toPSBT(0)));
    const complete = btc.Transaction.fromPSBT(signed);
    complete.finalize();
    assert.ok(complete.extract().length > 0);
    // Nothing was finalized by us.
    assert.ok(parsePsbt(signed).inputs.every(({ isFinal }) => !isFinal));
  });
}

test("all inputs of the key are signed, foreign and finalized ones left alone", () => {
  const own = types.map((type, i): Given => ({ type, value: BigInt(100_000 + i) }));
  const foreign: Given[] = [
    { type: "p2wpkh", key: strangersPublicKey },
    { type: "p2pkh", key: strangersPublicKey },
  ];
  const { bytes, other } = written(...own, ...foreign);
  const signed = signWith(parseBitcoin(bytes), types);
  other.sign(privateKey, undefined, noEntropy);
  assert.equal(toHex(signed), toHex(other.toPSBT(0)));
  assert.throws(() => signWith(parseBitcoin(bytes), []), /no input of it can be signed with this key/);

  const half = btc.Transaction.fromPSBT(written({ type: "p2wpkh" }, { type: "p2tr", value: 1n }).bytes);
  half.signIdx(privateKey, 0);
  half.finalizeIdx(0);
  const rest = parseBitcoin(half.toPSBT(0));
  assert.deepEqual(
    getSigningInputs(rest, publicKey, types).map(({ index }) => index),
    [1],
  );
});

test("only the asked-for scripts of the key are signed", () => {
  const { bytes } = written({ type: "p2wpkh" }, { type: "p2pkh", value: 5n }, { type: "p2tr", value: 6n });
  const psbt = parseBitcoin(bytes);
  for (const [index, type] of (["p2wpkh", "p2pkh", "p2tr"] as const).entries()) {
    assert.deepEqual(
      getSigningInputs(psbt, publicKey, [type]).map((input) => input.index),
      [index],
    );
  }
  assert.throws(() => getSigningInputs(psbt, publicKey, ["p2wsh"]), { errorCode: "INVALID_TRANSACTION" });
  assert.throws(() => getSigningInputs(psbt, strangersPublicKey, types), { errorCode: "INVALID_TRANSACTION" });
});

/** The PSBT with the pairs of one input changed. */
function changed(bytes: Uint8Array, index: number, change: (pairs: readonly PsbtPair[]) => readonly PsbtPair[]) {
  const psbt = parsePsbt(bytes);
  const inputs = psbt.inputs.map((input, i) => (i === index ? { ...input, pairs: change(input.pairs) } : input));
  return serialisePsbt({ ...psbt, inputs });
}

const adding = (hex: string, value: Uint8Array) => (pairs: readonly PsbtPair[]) => [
  ...pairs,
  { key: fromHex(hex), value },
];
const dropping = (type: number) => (pairs: readonly PsbtPair[]) => pairs.filter(({ key }) => key[0] !== type);

test("unknown and foreign fields keep their places, and signing again replaces the signature where it stands", () => {
  const key = toHex(publicKey);
  const other = toHex(strangersPublicKey);
  const fields = [
    ["fc0361626305", "01"],
    [`02${other}`, `3006020101020101${"01"}`],
    ["f0aabb", ""],
    [`06${key}`, "00000000"],
  ] as const;
  const bytes = changed(written({ type: "p2wpkh" }).bytes, 0, (pairs) => [
    ...fields.map(([name, value]) => ({ key: fromHex(name), value: fromHex(value) })),
    ...pairs,
  ]);
  const signed = signWith(parseBitcoin(bytes), ["p2wpkh"]);
  const names = parsePsbt(signed).inputs[0]?.pairs.map((pair) => toHex(pair.key));
  // Before the first field of a later type, which is the end of its own type where fields are sorted.
  assert.deepEqual(names, [`02${key}`, "fc0361626305", `02${other}`, "f0aabb", `06${key}`, "01"]);
  assert.deepEqual(signWith(parseBitcoin(signed), ["p2wpkh"]), signed);
  const forged = changed(signed, 0, (pairs) =>
    pairs.map((pair) => (toHex(pair.key) === `02${key}` ? { ...pair, value: fromHex("300602010102010101") } : pair)),
  );
  assert.deepEqual(signWith(parseBitcoin(forged), ["p2wpkh"]), signed);
});

test("Taproot with SIGHASH_ALL asked for says so in the signature", () => {
  const bytes = changed(written({ type: "p2tr" }).bytes, 0, adding("03", fromHex("01000000")));
  const signed = signWith(parseBitcoin(bytes), ["p2tr"]);
  const value = parsePsbt(signed).inputs[0]?.pairs.find(({ key }) => key[0] === 0x13)?.value;
  assert.deepEqual([value?.length, value?.at(-1)], [65, 1]);
  const complete = btc.Transaction.fromPSBT(signed);
  complete.finalize();
});

test("Taproot does not need the internal key, which the output proves", () => {
  const bytes = changed(written({ type: "p2tr" }).bytes, 0, dropping(0x17));
  assert.equal(getSigningInputs(parseBitcoin(bytes), publicKey, ["p2tr"]).length, 1);
});

test("an input that is ours but unsafe refuses the whole", () => {
  const p2wpkh = written({ type: "p2wpkh" }).bytes;
  const p2wsh = written({ type: "p2wsh" }).bytes;
  const p2sh = written({ type: "p2sh" }).bytes;
  const p2pkh = written({ type: "p2pkh" }).bytes;
  const inner = written({ type: "p2sh_p2pkh" }).bytes;
  const p2tr = written({ type: "p2tr" }).bytes;
  const otherScript = paymentsOf(strangersPublicKey).p2wsh.witnessScript;
  const claim = (script: Uint8Array) => Uint8Array.of(160, 134, 1, 0, 0, 0, 0, 0, script.length, ...script);
  for (const [why, bytes] of [
    [/witness_script is missing/, changed(p2wsh, 0, dropping(5))],
    [/witness_script is not the one/, changed(p2wsh, 0, (p) => adding("05", otherScript)(dropping(5)(p)))],
    [/redeem_script is missing/, changed(p2sh, 0, dropping(4))],
    [/redeem_script is not the one/, changed(p2sh, 0, (p) => adding("04", otherScript)(dropping(4)(p)))],
    [/redeem_script is not the one/, changed(p2wpkh, 0, adding("04", otherScript))],
    [/witness_script is not the one/, changed(p2wpkh, 0, adding("05", otherScript))],
    [/redeem_script is missing/, changed(inner, 0, dropping(4))],
    [/witness_utxo, but it has no witness/, changed(p2pkh, 0, adding("01", claim(paymentsOf(publicKey).p2pkh.script)))],
    [
      /witness_utxo, but it has no witness/,
      changed(p2pkh, 0, (p) => adding("01", claim(paymentsOf(publicKey).p2pkh.script))(dropping(0)(p))),
    ],
    [
      /witness_utxo, but it has no witness/,
      changed(inner, 0, adding("01", claim(paymentsOf(publicKey).p2sh_p2pkh.script))),
    ],
    [/only SIGHASH_ALL/, changed(p2wpkh, 0, adding("03", fromHex("81000000")))],
    [/only SIGHASH_ALL/, changed(p2wpkh, 0, adding("03", fromHex("00000000")))],
    [/only SIGHASH_ALL/, changed(p2tr, 0, adding("03", fromHex("83000000")))],
    [/Taproot scripts are not signed/, changed(p2tr, 0, adding("18", new Uint8Array(32)))],
    [/Taproot scripts are not signed/, changed(p2tr, 0, adding(`15c0${"11".repeat(32)}`, fromHex("51c0")))],
    [
      /tap_internal_key is not the key/,
      changed(p2tr, 0, (p) => adding("17", strangersPublicKey.subarray(1))(dropping(0x17)(p))),
    ],
    [
      /some do not say/,
      changed(written({ type: "p2tr" }, { type: "p2wpkh", key: strangersPublicKey }).bytes, 1, dropping(1)),
    ],
    [
      /witness_utxo is not the output/,
      changed(written({ type: "p2wpkh", withBoth: true }).bytes, 0, (p) =>
        adding("01", claim(otherScript))(dropping(1)(p)),
      ),
    ],
  ] as const) {
    assert.throws(() => getSigningInputs(parseBitcoin(bytes), publicKey, types), {
      errorCode: "INVALID_TRANSACTION",
      message: why,
    });
  }
  const both = written({ type: "p2wpkh", withBoth: true }).bytes;
  assert.equal(getSigningInputs(parseBitcoin(both), publicKey, types).length, 1);
});

test("transactions that no node takes are refused before anything is signed", () => {
  const psbt = parsePsbt(written({ type: "p2wpkh" }).bytes);
  const [input] = psbt.transaction.inputs;
  const [output] = psbt.transaction.outputs;
  assert.ok(input && output);
  const withTransaction = (change: Partial<BitcoinTransaction>, inputs = psbt.inputs) => {
    const transaction = { ...psbt.transaction, ...change };
    const value = serialiseBitcoinTransaction({ ...transaction });
    const outputs = transaction.outputs.map(() => []);
    return serialisePsbt({ ...psbt, transaction, global: [{ key: fromHex("00"), value }], inputs, outputs });
  };
  const twice = [input, input];
  const nothing = { ...input, previousId: new Uint8Array(32), vout: 0xffffffff };
  const [known] = psbt.inputs;
  assert.ok(known);
  for (const [why, bytes] of [
    [/no outputs/, withTransaction({ outputs: [] })],
    [/spends one output twice/, withTransaction({ inputs: twice }, [known, known])],
    [/it spends nothing/, withTransaction({ inputs: [nothing] })],
    [/beyond 21 million/, withTransaction({ outputs: [{ ...output, value: 2_100_000_000_000_001n }] })],
    [/pays more than it spends/, withTransaction({ outputs: [{ ...output, value: 100_001n }] })],
    [/over 100000 bytes/, withTransaction({ outputs: [{ ...output, scriptPubKey: new Uint8Array(100_000) }] })],
    [/its transaction is signed/, withTransaction({ inputs: [{ ...input, scriptSig: fromHex("51") }] })],
  ] as const) {
    assert.throws(() => parseBitcoin(bytes), { errorCode: "INVALID_TRANSACTION", message: why });
  }
});

test("policies see amounts, the fee, lock times and addresses of the network they ask for", () => {
  const other = new btc.Transaction({ version: 2, lockTime: 1_700_000_000, allowUnknownOutputs: true });
  other.addInput({ ...inputOf({ type: "p2wpkh", withBoth: true }), sequence: 1 });
  const payments = paymentsOf(publicKey);
  for (const script of [
    payments.p2pkh.script,
    payments.p2sh.script,
    payments.p2wpkh.script,
    payments.p2wsh.script,
    payments.p2tr.script,
    fromHex("6a0401020304"),
    fromHex("5393"),
  ]) {
    other.addOutput({ script, amount: 1_000n });
  }
  const psbt = parseBitcoin(other.toPSBT(0));
  const facts = bitcoinFacts(psbt, "mainnet");
  assert.deepEqual(
    facts.outputs.map(({ addressType }) => addressType),
    ["P2PKH", "P2SH", "P2WPKH", "P2WSH", "P2TR", "", ""],
  );
  const { p2pkh, p2sh, p2wpkh, p2wsh, p2tr } = payments;
  assert.deepEqual(
    facts.outputs.map(({ address }) => address),
    [p2pkh.address, p2sh.address, p2wpkh.address, p2wsh.address, p2tr.address, "", ""],
  );
  assert.deepEqual(
    facts.outputs.map(({ value }) => value),
    Array(7).fill(1_000n),
  );
  assert.equal(facts.outputs[5]?.scriptPubKey, "6a0401020304");
  assert.deepEqual(facts.lockTime, { amount: 1_700_000_000, type: "Seconds" });
  assert.deepEqual([facts.version, facts.fee, facts.isFeeProven], ["2", 93_000n, true]);
  assert.deepEqual(facts.inputs, [{ txId: inputOf({ type: "p2wpkh" }).txid, vout: 0, sequence: 1 }]);
  for (const [network, start] of [
    ["testnet", "tb1q"],
    ["signet", "tb1q"],
    ["regtest", "bcrt1q"],
  ] as const) {
    assert.ok(bitcoinFacts(psbt, network).outputs[2]?.address.startsWith(start));
  }
  assert.deepEqual(bitcoinFacts(parseBitcoin(written({ type: "p2wpkh" }).bytes), "mainnet").lockTime, {
    amount: 840_000,
    type: "Blocks",
  });
  assert.equal(bitcoinFacts(parseBitcoin(written({ type: "p2wpkh" }).bytes), "mainnet").isFeeProven, false);
  const unknown = changed(written({ type: "p2wpkh" }, { type: "p2pkh", value: 3n }).bytes, 1, dropping(0));
  assert.equal(bitcoinFacts(parseBitcoin(unknown), "mainnet").fee, undefined);
});

/** A PSBT of inputs of one script, each with what its type needs. */
function manyInputs(type: "p2pkh" | "p2wpkh" | "p2tr", count: number): Uint8Array {
  const { script } = paymentsOf(publicKey)[type];
  const previous = Array.from({ length: count }, (_, i) => ({ ...funding(script, 1_000n), lockTime: i }));
  const inputs = previous.map((one) => ({ ...(one.inputs[0] as BitcoinInput), previousId: bitcoinId(one) }));
  const transaction = { version: 2, inputs, outputs: [{ value: 1n, scriptPubKey: script }], lockTime: 0 };
  const amount = [0xe8, 3, 0, 0, 0, 0, 0, 0];
  const pairs = previous.map((one): PsbtPair[] =>
    type === "p2pkh"
      ? [{ key: fromHex("00"), value: serialiseBitcoinTransaction(one) }]
      : [{ key: fromHex("01"), value: Uint8Array.of(...amount, script.length, ...script) }],
  );
  const [empty] = parsePsbt(written({ type: "p2wpkh" }).bytes).inputs;
  assert.ok(empty);
  return serialisePsbt({
    transaction,
    global: [{ key: fromHex("00"), value: serialiseBitcoinTransaction(transaction) }],
    inputs: pairs.map((one) => ({ ...empty, pairs: one })),
    outputs: [[]],
  });
}

test("many inputs are signed each by its own digest; more than nodes relay are refused", () => {
  for (const [type, count] of [
    ["p2pkh", 700],
    ["p2wpkh", 2_400],
    ["p2tr", 2_400],
  ] as const) {
    const psbt = parseBitcoin(manyInputs(type, count));
    const inputs = getSigningInputs(psbt, publicKey, [type]);
    assert.equal(new Set(inputs.map(({ digest }) => toHex(digest))).size, count);
    const signature = new Uint8Array(64).fill(1);
    const signed = withBitcoinSignatures(
      psbt,
      publicKey,
      inputs.map((input) => ({ input, signature })),
    );
    assert.equal(parsePsbt(signed).inputs.filter(({ pairs }) => pairs.length === 2).length, count);
  }
  const tooMany = parseBitcoin(manyInputs("p2pkh", 720));
  assert.throws(() => getSigningInputs(tooMany, publicKey, ["p2pkh"]), /over 100000 bytes once it is signed/);
});

test("a hundred times as many witness inputs do not cost the square of it", () => {
  for (const type of ["p2wpkh", "p2tr"] as const) {
    const digestsOf = (count: number) => {
      const psbt = parseBitcoin(manyInputs(type, count));
      return () => getSigningInputs(psbt, publicKey, [type]);
    };
    const [few, many] = [digestsOf(24), digestsOf(2_400)];
    assertCost(many, few, 500);
  }
});

test("maps and witnesses that only cost memory are refused", () => {
  const fields = Array.from({ length: 10_001 }, (_, i) => ({
    key: Uint8Array.of(0xf0, i >> 8, i & 0xff),
    value: new Uint8Array(),
  }));
  assert.throws(() => parsePsbt(changed(written({ type: "p2wpkh" }).bytes, 0, () => fields)), /over 10000 fields/);
  const [input] = funding(destination.script, 1n).inputs;
  assert.ok(input);
  const items = (count: number) => Array(count).fill(new Uint8Array()) as Uint8Array[];
  const heavy = (witness: Uint8Array[]) =>
    serialiseBitcoinTransaction({
      ...funding(destination.script, 1n),
      inputs: [
        { ...input, witness },
        { ...input, witness },
      ],
    });
  assert.ok(parseBitcoinTransaction(heavy(items(25_000))));
  assert.throws(() => parseBitcoinTransaction(heavy(items(25_001))), /over 50000 witness items/);
  assert.throws(() => parseBitcoinTransaction(heavy(items(50_001))), /over 50000 witness items/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { findVectors } from "../../test/vectors.ts";
import { parseEcdsaDer } from "../encoding/der.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { hash160 } from "../keys/addresses/hash160.ts";
import { bitcoinFacts, parseBitcoin } from "./bitcoin.ts";
import {
  type BitcoinInput,
  bitcoinId,
  checkBitcoinTransaction,
  doubleSha256,
  parseBitcoinTransaction,
  parseUnsignedBitcoinTransaction,
  serialiseBitcoinTransaction,
  serialiseWithoutWitnesses,
  toTxId,
} from "./bitcoin_transaction.ts";
import { findValue, type Psbt, type PsbtInput, parsePsbt, psbtIn, serialisePsbt, withInputPair } from "./psbt.ts";
import { sighashesOf } from "./sighash.ts";

const fromBase64 = (text: string) => Uint8Array.from(Buffer.from(text, "base64"));
const refusal = { errorCode: "INVALID_TRANSACTION" };

/** [[previous id, vout, script, amount?]…], transaction, flags */
type TransactionCase = [[string, number, string, number?][], string, string];

test("bitcoin core: valid transactions are read, written alike and named by their id", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const cases = vectors.json<TransactionCase[]>("bitcoin-core/tx_valid.json");
  let withWitness = 0;
  for (const [spent, hex] of cases) {
    const transaction = parseBitcoinTransaction(fromHex(hex));
    assert.equal(toHex(serialiseBitcoinTransaction(transaction)), hex.toLowerCase());
    const short = serialiseWithoutWitnesses(transaction);
    assert.deepEqual(bitcoinId(transaction), doubleSha256(short));
    if (short.length * 2 !== hex.length) withWitness++;
    const outpoints = transaction.inputs.map(({ previousId, vout }) => `${toTxId(previousId)}:${vout | 0}`);
    assert.deepEqual(outpoints.toSorted(), spent.map(([id, vout]) => `${id}:${vout | 0}`).toSorted());
  }
  assert.deepEqual([cases.length, withWitness], [81, 18]);
});

test("bitcoin core: transactions that no state makes valid are refused", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const cases = vectors.json<TransactionCase[]>("bitcoin-core/tx_invalid.json");
  const counts = { refused: 0, excluded: 0 };
  for (const [, hex, flags] of cases) {
    const check = () => checkBitcoinTransaction(parseBitcoinTransaction(fromHex(hex)));
    if (flags === "BADTX") {
      assert.throws(check, refusal);
      counts.refused++;
    } else {
      // Well-formed; their scripts fail when a node runs them, which a signer never does.
      assert.equal(toHex(serialiseBitcoinTransaction(parseBitcoinTransaction(fromHex(hex)))), hex.toLowerCase());
      counts.excluded++;
    }
  }
  assert.deepEqual(counts, { refused: 6, excluded: 56 });
});

test("bitcoin core: signatures of valid transactions hold over our digests", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { legacy: 0, segwit: 0, looseDer: 0 };
  for (const [spent, hex] of vectors.json<TransactionCase[]>("bitcoin-core/tx_valid.json")) {
    const transaction = parseBitcoinTransaction(fromHex(hex));
    const sighashes = sighashesOf(transaction);
    for (const [index, input] of transaction.inputs.entries()) {
      const output = spent.find(([id, vout]) => id === toTxId(input.previousId) && vout >>> 0 === input.vout);
      const script = output && keyHashIn(output[2]);
      if (script === undefined) continue;
      const [signature, publicKey] = script.isWitness ? input.witness : pushesOf(input);
      if (signature === undefined || publicKey === undefined) continue;
      // Some cases are valid only because a rule is switched off; their signatures prove nothing.
      if (toHex(hash160(publicKey)) !== script.hash) continue;
      const hashType = signature.at(-1) ?? 0;
      const code = fromHex(`76a914${script.hash}88ac`);
      const digest = script.isWitness
        ? sighashes.segwit(index, code, BigInt(output?.[3] ?? 0), hashType)
        : sighashes.legacy(index, code, hashType);
      const der = signature.subarray(0, -1);
      // Before BIP-66, integers with a wrong sign were taken.
      const isStrict = [3, 5 + (der[3] ?? 0)].every((at) => (der[at + 1] ?? 0) < 0x80);
      if (!isStrict) {
        counts.looseDer++;
        continue;
      }
      assert.ok(secp256k1.verify(parseEcdsaDer(der), digest, publicKey, { prehash: false, lowS: false }), hex);
      counts[script.isWitness ? "segwit" : "legacy"]++;
    }
  }
  assert.deepEqual(counts, { legacy: 13, segwit: 17, looseDer: 2 });
});

/** The key's hash in the file's spelling of a P2PKH or P2WPKH script; undefined for all other scripts. */
function keyHashIn(text: string): { hash: string; isWitness: boolean } | undefined {
  const legacy = /^DUP HASH160 0x14 0x([0-9a-f]{40}) EQUALVERIFY CHECKSIG$/.exec(text)?.[1];
  const witness = /^0x00 0x14 0x([0-9a-f]{40})$/.exec(text)?.[1];
  const hash = legacy ?? witness;
  return hash === undefined ? undefined : { hash, isWitness: witness !== undefined };
}

/** The data that a script of short pushes leaves behind. */
function pushesOf({ scriptSig }: BitcoinInput): Uint8Array[] {
  const pushes: Uint8Array[] = [];
  for (let at = 0; at < scriptSig.length; ) {
    const length = scriptSig[at] ?? 0;
    pushes.push(scriptSig.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return pushes;
}

test("bitcoin core: original digests of random transactions and scripts", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const cases = vectors.json<[string, string, number, number, string][]>("bitcoin-core/sighash.json");
  for (const [hex, script, index, hashType, expected] of cases) {
    const transaction = parseBitcoinTransaction(fromHex(hex));
    assert.equal(toHex(serialiseBitcoinTransaction(transaction)), hex);
    assert.equal(toTxId(sighashesOf(transaction).legacy(index, fromHex(script), hashType)), expected);
  }
  assert.equal(cases.length, 160);
});

test("BIP-341: digests and signatures of key spends", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = {
    keyPathSpending: {
      given: { rawUnsignedTx: string; utxosSpent: { scriptPubKey: string; amountSats: number }[] };
      inputSpending: {
        given: { txinIndex: number; hashType: number };
        intermediary: { sigHash: string };
        expected: { witness: string[] };
      }[];
    }[];
  };
  let exact = 0;
  for (const { given, inputSpending } of vectors.json<File>("bitcoin-bips/bip341-scriptPubKey.json").keyPathSpending) {
    const sighashes = sighashesOf(parseUnsignedBitcoinTransaction(fromHex(given.rawUnsignedTx)));
    const spent = given.utxosSpent.map(({ scriptPubKey, amountSats }) => ({
      value: BigInt(amountSats),
      scriptPubKey: fromHex(scriptPubKey),
    }));
    for (const { given: input, intermediary, expected } of inputSpending) {
      const digest = sighashes.taproot(input.txinIndex, spent, input.hashType);
      assert.equal(toHex(digest), intermediary.sigHash);
      const signature = fromHex(expected.witness[0] ?? "").subarray(0, 64);
      assert.ok(schnorr.verify(signature, digest, spent[input.txinIndex]?.scriptPubKey.subarray(2) ?? digest));
      exact++;
    }
  }
  assert.equal(exact, 7);
});

test("BIP-174: what is valid, what is not, and what a signer must refuse", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Case = { case: string; base64: string };
  type File = { valid: Case[]; invalid: Case[]; signerMustFail: Case[] };
  const { valid, invalid, signerMustFail } = vectors.json<File>("bitcoin-bips/bip174-psbt.json");
  for (const { case: name, base64 } of valid) {
    assert.deepEqual(serialisePsbt(parsePsbt(fromBase64(base64))), fromBase64(base64), name);
  }
  for (const { case: name, base64 } of invalid) {
    assert.throws(() => parsePsbt(fromBase64(base64)), refusal, name);
  }
  for (const { case: name, base64 } of signerMustFail) {
    assert.ok(parsePsbt(fromBase64(base64)), name);
    assert.throws(() => parseBitcoin(fromBase64(base64)), refusal, name);
  }
  assert.deepEqual([valid.length, invalid.length, signerMustFail.length], [7, 14, 3]);
});

type CorePsbts = {
  valid: string[];
  invalid: string[];
  invalid_with_msg: [string, string][];
  signer: { psbt: string; result: string }[];
  creator: {
    inputs: { txid: string; vout: number }[];
    outputs: Record<string, number>[];
    version: number;
    result: string;
  }[];
  combiner: { combine: string[]; result: string }[];
  finalizer: { finalize: string; result: string }[];
  extractor: { extract: string; result: string }[];
};

test("bitcoin core: PSBTs that are valid and invalid", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { valid, invalid, invalid_with_msg } = vectors.json<CorePsbts>("bitcoin-core/rpc_psbt.json");
  const counts = { valid: 0, laterVersion: 0, invalid: 0 };
  for (const base64 of valid) {
    const bytes = fromBase64(base64);
    try {
      assert.deepEqual(serialisePsbt(parsePsbt(bytes)), bytes);
      counts.valid++;
    } catch (error) {
      // The file also has version 2 (BIP-370), which the published wire does not take.
      assert.ok(error instanceof Fault && /belongs to PSBT version 2/.test(error.message), `${error}`);
      counts.laterVersion++;
    }
  }
  for (const base64 of [...invalid, ...invalid_with_msg.map(([first]) => first)]) {
    assert.throws(() => parsePsbt(fromBase64(base64)), refusal);
    counts.invalid++;
  }
  assert.deepEqual(counts, { valid: 23, laterVersion: 9, invalid: 58 });
});

/** The script that a signature in this input satisfies, and the digest that goes with it. */
function digestOf(psbt: Psbt, index: number, hashType: number): Uint8Array {
  const { witnessScript, redeemScript, spent } = psbt.inputs[index] as PsbtInput;
  const sighashes = sighashesOf(psbt.transaction);
  const code = witnessScript ?? redeemScript ?? assert.fail();
  if (witnessScript === undefined) return sighashes.legacy(index, code, hashType);
  return sighashes.segwit(index, code, spent?.value ?? 0n, hashType);
}

function sortedPairs({ global, inputs, outputs }: Psbt): string[][] {
  const maps = [global, ...inputs.map(({ pairs }) => pairs), ...outputs];
  return maps.map((pairs) => pairs.map(({ key, value }) => `${toHex(key)}=${toHex(value)}`).toSorted());
}

test("bitcoin core: a signer's result is its PSBT with signatures over our digests spliced in, and nothing else", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { signer } = vectors.json<CorePsbts>("bitcoin-core/rpc_psbt.json");
  let signatures = 0;
  for (const { psbt, result } of signer) {
    let signed = parsePsbt(fromBase64(psbt));
    for (const [index, { pairs }] of parsePsbt(fromBase64(result)).inputs.entries()) {
      const before = new Set(signed.inputs[index]?.pairs.map(({ key }) => toHex(key)));
      for (const pair of pairs.filter(({ key }) => !before.has(toHex(key)))) {
        assert.equal(pair.key[0], psbtIn.partialSig);
        const digest = digestOf(signed, index, pair.value.at(-1) ?? 0);
        const rs = parseEcdsaDer(pair.value.subarray(0, -1));
        assert.ok(secp256k1.verify(rs, digest, pair.key.subarray(1), { prehash: false }));
        signed = withInputPair(signed, index, pair);
        signatures++;
      }
    }
    // The reference client sorts fields by type where we keep the order they came in.
    assert.deepEqual(sortedPairs(signed), sortedPairs(parsePsbt(fromBase64(result))));
  }
  assert.deepEqual([signer.length, signatures], [4, 4]);
});

test("bitcoin core: what a creator was asked for is what policies see of its PSBT", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { creator } = vectors.json<CorePsbts>("bitcoin-core/rpc_psbt.json");
  for (const { inputs, outputs, version, result } of creator) {
    // The PSBT's own version, which only later ones write down.
    assert.equal(version, 0);
    const facts = bitcoinFacts(parseBitcoin(fromBase64(result)), "regtest");
    assert.deepEqual(
      facts.inputs.map(({ txId, vout }) => ({ txid: txId, vout })),
      inputs,
    );
    assert.deepEqual(
      facts.outputs.map(({ address, value }) => ({ [address]: Number(value) / 1e8 })),
      outputs,
    );
  }
  assert.equal(creator.length, 1);
});

test("bitcoin core: signatures of several signers, gathered as ours are spliced in, all hold over our digests", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { combiner } = vectors.json<CorePsbts>("bitcoin-core/rpc_psbt.json");
  let signatures = 0;
  for (const { combine, result } of combiner) {
    const [first = assert.fail(), ...others] = combine.map((base64) => parsePsbt(fromBase64(base64)));
    const gathered = others
      .flatMap(({ inputs }) => inputs.flatMap(({ pairs }, index) => pairs.map((pair) => ({ index, pair }))))
      .reduce((psbt, { index, pair }) => withInputPair(psbt, index, pair), first);
    assert.deepEqual(sortedPairs(gathered), sortedPairs(parsePsbt(fromBase64(result))));
    for (const [index, { pairs }] of gathered.inputs.entries()) {
      for (const { key, value } of pairs.filter((pair) => pair.key[0] === psbtIn.partialSig)) {
        const digest = digestOf(gathered, index, value.at(-1) ?? 0);
        assert.ok(secp256k1.verify(parseEcdsaDer(value.subarray(0, -1)), digest, key.subarray(1), { prehash: false }));
        signatures++;
      }
    }
  }
  assert.deepEqual([combiner.length, signatures], [1, 4]);
});

test("bitcoin core: an extracted transaction is its PSBT's, with the final scripts put in", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { finalizer, extractor } = vectors.json<CorePsbts>("bitcoin-core/rpc_psbt.json");
  // Excluded: making final scripts out of signatures, which is left to whoever gathers them. Both sides are read.
  for (const { finalize, result } of finalizer) {
    const [before, after] = [parsePsbt(fromBase64(finalize)), parsePsbt(fromBase64(result))];
    assert.deepEqual(before.transaction, after.transaction);
    assert.ok(before.inputs.every(({ isFinal }) => !isFinal));
    assert.ok(after.inputs.every(({ isFinal }) => isFinal));
  }
  for (const { extract, result } of extractor) {
    const { transaction, inputs } = parsePsbt(fromBase64(extract));
    const signed = parseBitcoinTransaction(fromHex(result));
    assert.equal(toHex(serialiseBitcoinTransaction(signed)), result);
    for (const [index, { scriptSig, witness }] of signed.inputs.entries()) {
      const { pairs } = inputs[index] as PsbtInput;
      assert.deepEqual(scriptSig, findValue(pairs, psbtIn.finalScriptSig));
      // Items of less than 253 bytes: one byte says how long each is.
      const stack = Uint8Array.from([witness.length, ...witness.flatMap((item) => [item.length, ...item])]);
      assert.deepEqual(stack, findValue(pairs, psbtIn.finalScriptWitness) ?? Uint8Array.of(0));
    }
    const bare = signed.inputs.map((input) => ({ ...input, scriptSig: new Uint8Array(), witness: [] }));
    assert.deepEqual({ ...signed, inputs: bare }, transaction);
  }
  assert.deepEqual([finalizer.length, extractor.length], [1, 1]);
});

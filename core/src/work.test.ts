import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { digestingInputs, getSigningInputs } from "./chains/bitcoin_signing.ts";
import type { BitcoinInput } from "./chains/bitcoin_transaction.ts";
import type { Psbt } from "./chains/psbt.ts";
import { digestingTypedData, parseTypedData, typedDataDigest } from "./crypto/eip712.ts";
import { fromHex } from "./encoding/hex.ts";
import { bitcoinScripts } from "./keys/addresses/bitcoin.ts";
import { createPace, finish, type Known, keeping, mapWithPauses, recall, type Work } from "./work.ts";

/** What the work comes to, and the most that `spent` grew between two of its pauses. */
function driven<T>(work: Work<T>, spent: () => number): { value: T; most: number } {
  for (let most = 0; ; ) {
    const began = spent();
    const { done, value } = work.next();
    most = Math.max(most, spent() - began);
    if (done === true) return { value: value as T, most };
  }
}

/** A hash that counts its bytes and its calls. */
function counting(hash: (bytes: Uint8Array) => Uint8Array) {
  const counted = { bytes: 0, calls: 0 };
  const hashed = (bytes: Uint8Array) => {
    counted.bytes += bytes.length;
    counted.calls += 1;
    return hash(bytes);
  };
  return { counted, hashed };
}

test("work pauses after each item, or after as many as it is told, and comes to the same", () => {
  const steps = (work: Work<unknown>) => {
    let count = 0;
    while (work.next().done !== true) count += 1;
    return count;
  };
  const items = [1, 2, 3, 4, 5];
  const double = (item: number) => 2 * item;
  assert.equal(steps(mapWithPauses(items, double)), 5);
  assert.equal(steps(mapWithPauses(items, double, 2)), 2);
  assert.deepEqual(finish(mapWithPauses(items, double, 2)), [2, 4, 6, 8, 10]);
  const pace = createPace(10);
  assert.deepEqual([4, 5, 1, 9, 20].map(pace), [false, false, true, false, true]);
});

test("a refusal is kept as a value is", () => {
  const keep = (work: Work<number>) => {
    const kept: Known<number>[] = [];
    try {
      finish(keeping(work, (known) => void kept.push(known)));
    } catch (error) {
      assert.throws(() => kept.map(recall), error as Error);
    }
    return kept;
  };
  function* refusing(): Work<number> {
    yield;
    throw new RangeError("no");
  }
  assert.equal(keep(refusing()).length, 1);
  assert.deepEqual(keep(one()).map(recall), [1]);
});

function* one(): Work<number> {
  yield;
  return 1;
}

test("between two pauses no more is hashed than one input's digest, however many inputs there are", () => {
  const publicKey = fromHex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
  const script = bitcoinScripts.p2pkh(publicKey).output;
  const input = (vout: number): BitcoinInput => {
    return { previousId: new Uint8Array(32).fill(1), vout, scriptSig: new Uint8Array(), sequence: 0, witness: [] };
  };
  const output = { value: 1n, scriptPubKey: script };
  const inputs = Array.from({ length: 300 }, (_, vout) => input(vout));
  const transaction = { version: 2, inputs, outputs: Array(300).fill(output), lockTime: 0 };
  const spent = { nonWitnessUtxo: transaction, spent: output, isFinal: false, hasTapScripts: false, pairs: [] };
  const psbt = { transaction, global: [], inputs: inputs.map(() => spent), outputs: [] } as unknown as Psbt;
  const { counted, hashed } = counting(sha256);
  const { value, most } = driven(digestingInputs(psbt, publicKey, ["p2pkh"], hashed), () => counted.bytes);
  assert.deepEqual(value, getSigningInputs(psbt, publicKey, ["p2pkh"]));
  assert.ok(counted.bytes > 300 * 20_000);
  assert.ok(most > 20_000 && most < 25_000, `${most}`);
});

test("between two pauses some two hundred values of typed data are hashed, however many there are", () => {
  const types = { EIP712Domain: [], Message: [{ name: "a", type: "string[][]" }] };
  const message = { a: Array.from({ length: 1_500 }, () => ["x"]) };
  const typedData = parseTypedData(JSON.stringify({ types, primaryType: "Message", domain: {}, message }));
  const { counted, hashed } = counting(keccak_256);
  const { value, most } = driven(digestingTypedData({ keccak256: hashed }, typedData), () => counted.calls);
  assert.deepEqual(value, typedDataDigest({ keccak256: keccak_256 }, typedData));
  assert.ok(counted.calls > 3_000);
  assert.ok(most <= 200, `${most}`);
});

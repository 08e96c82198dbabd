import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import * as btc from "@scure/btc-signer";
import { parseBitcoin } from "../../chains/bitcoin.ts";
import { bitcoinId, serialiseBitcoinTransaction, toTxId } from "../../chains/bitcoin_transaction.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import type { Struct } from "../values/values.ts";
import { bitcoinStruct, networkOf } from "./bitcoin.ts";

const key = secp256k1.getPublicKey(fromHex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"), true);
const payments = { p2wpkh: btc.p2wpkh(key), p2tr: btc.p2tr(key.subarray(1)), p2pkh: btc.p2pkh(key) };
type Spent = { type: keyof typeof payments; proven: boolean };

/** A PSBT of the other library that spends 100,000 per input, each different from the others, and pays 90,000 once. */
function psbtOf(...spent: readonly Spent[]): Uint8Array {
  const transaction = new btc.Transaction({ version: 2, lockTime: 840_000 });
  for (const [i, { type, proven }] of spent.entries()) {
    const { script } = payments[type];
    const input = {
      previousId: new Uint8Array(32).fill(i),
      vout: 0,
      scriptSig: new Uint8Array(),
      sequence: 0,
      witness: [],
    };
    const previous = { version: 2, inputs: [input], outputs: [{ value: 100_000n, scriptPubKey: script }], lockTime: 0 };
    transaction.addInput({
      txid: toTxId(bitcoinId(previous)),
      index: 0,
      sequence: 0xfffffffd,
      ...(proven ? { nonWitnessUtxo: serialiseBitcoinTransaction(previous) } : {}),
      ...(proven ? {} : { witnessUtxo: { script, amount: 100_000n } }),
    });
  }
  transaction.addOutput({ script: payments.p2wpkh.script, amount: 90_000n });
  return transaction.toPSBT(0);
}

const factsOf = (...spent: readonly Spent[]) => bitcoinStruct(parseBitcoin(psbtOf(...spent)), "mainnet");

const segwit = (proven: boolean): Spent => ({ type: "p2wpkh", proven });
const taproot: Spent = { type: "p2tr", proven: false };

test("what a transaction spends, pays and waits for", () => {
  const facts = factsOf(segwit(true));
  const [input] = facts.inputs as readonly Struct[];
  assert.match(String(input?.tx_id), /^[0-9a-f]{64}$/);
  assert.deepEqual([input?.vout, input?.sequence], [0n, 0xfffffffdn]);
  assert.equal(facts.version, "2");
  assert.deepEqual(facts.locktime, { amount: 840_000n, type: "Blocks" });
  assert.deepEqual(facts.outputs, [
    {
      value: 90_000n,
      script_pubkey: toHex(payments.p2wpkh.script),
      address: payments.p2wpkh.address,
      address_type: "P2WPKH",
    },
  ]);
});

test("addresses are those of the signing key's network, and the main network's without one", () => {
  assert.equal(networkOf("ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR"), "signet");
  assert.equal(networkOf("ADDRESS_FORMAT_COMPRESSED"), "mainnet");
  assert.equal(networkOf("toString"), "mainnet");
  assert.equal(networkOf(undefined), "mainnet");
  const { outputs } = bitcoinStruct(parseBitcoin(psbtOf(segwit(true))), "regtest");
  assert.match(String((outputs as readonly Struct[])[0]?.address), /^bcrt1q/);
});

test("the fee counts when amounts are proven, or when every signature commits to all that is claimed", () => {
  assert.equal(factsOf(segwit(true), segwit(true)).fee, 110_000n);
  assert.equal(factsOf({ type: "p2pkh", proven: true }, segwit(true)).fee, 110_000n);
  assert.equal(factsOf(segwit(false)).fee, 10_000n);
  assert.equal(factsOf(taproot, taproot, taproot).fee, 210_000n);
});

test("a fee that two requests with two lies could hide has no value", () => {
  assert.equal(factsOf(segwit(false), segwit(false)).fee, undefined);
  assert.equal(factsOf(segwit(true), segwit(false)).fee, undefined);
  assert.equal(factsOf(taproot, segwit(false)).fee, undefined);
});

test("an input that does not say what it spends leaves the fee without a value", () => {
  const silent = new btc.Transaction({ version: 2 });
  silent.addInput({ txid: "11".repeat(32), index: 0 });
  silent.addOutput({ script: payments.p2wpkh.script, amount: 90_000n });
  assert.equal(bitcoinStruct(parseBitcoin(silent.toPSBT(0)), "mainnet").fee, undefined);
});

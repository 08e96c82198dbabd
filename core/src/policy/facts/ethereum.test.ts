import assert from "node:assert/strict";
import { test } from "node:test";
import { Transaction } from "micro-eth-signer";
import { createContract, ERC20 } from "micro-eth-signer/abi.js";
import { type EthereumTransaction, parseEthereum, serialiseEthereum } from "../../chains/ethereum.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { parseAbi } from "../interfaces/abi.ts";
import { EvmText, type Value } from "../values/values.ts";
import { ethereumStruct } from "./ethereum.ts";

const token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const recipient = "0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7";
const sender = new EvmText("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
const from = () => sender;
const abi = parseAbi(JSON.stringify(ERC20));
const transfer = createContract(ERC20).transfer.encodeInput({ to: recipient, value: 5n });

const base: EthereumTransaction = {
  type: "TYPE_2",
  chainId: 1n,
  nonce: 3n,
  gas: 60_000n,
  gasPrice: 0n,
  maxFeePerGas: 900n,
  maxPriorityFeePerGas: 7n,
  to: fromHex(token.slice(2)),
  value: 0n,
  data: transfer,
  accessList: [],
  maxFeePerBlobGas: 0n,
  blobVersionedHashes: [],
  authorizationList: [],
};

/** The facts of the transaction after it was written and read again, as a signer reads it. */
function factsOf(change: Partial<EthereumTransaction>, known: typeof abi | undefined = abi) {
  return ethereumStruct(parseEthereum(serialiseEthereum({ ...base, ...change })), from, known);
}

test("a token transfer that another library wrote: every field, and the decoded call", () => {
  const bytes = Transaction.prepare(
    {
      to: token,
      value: 0n,
      maxFeePerGas: 900n,
      maxPriorityFeePerGas: 7n,
      nonce: 3n,
      gasLimit: 60_000n,
      chainId: 1n,
      data: `0x${toHex(transfer)}`,
    },
    false,
  ).toBytes({ includeSignature: false });
  const facts = ethereumStruct(parseEthereum(bytes), from, abi);
  const expected = {
    type: "TYPE_2",
    from: sender,
    to: new EvmText(token),
    data: new EvmText(`0x${toHex(transfer)}`),
    value: 0n,
    gas: 60_000n,
    gas_price: 900n,
    max_fee_per_gas: 900n,
    max_priority_fee_per_gas: 7n,
    max_fee_per_blob_gas: 0n,
    chain_id: 1n,
    nonce: 3n,
    function_name: "transfer",
    function_signature: new EvmText("0xa9059cbb"),
    contract_call_args: new Map<string, Value>([
      ["to", new EvmText(recipient)],
      ["value", 5n],
    ]),
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, facts[name]])), expected);
});

test("a limit on any of the three prices holds for every type of transaction", () => {
  const onePrice = { gasPrice: 50n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  for (const type of ["LEGACY", "TYPE_1"] as const) {
    const { gas_price, max_fee_per_gas, max_priority_fee_per_gas } = factsOf({ type, ...onePrice });
    assert.deepEqual([gas_price, max_fee_per_gas, max_priority_fee_per_gas], [50n, 50n, 50n], type);
  }
  const { gas_price, max_fee_per_gas, max_priority_fee_per_gas } = factsOf({});
  assert.deepEqual([gas_price, max_fee_per_gas, max_priority_fee_per_gas], [900n, 900n, 7n]);
});

test("a legacy transaction for every chain has no chain id", () => {
  const legacy = { type: "LEGACY", gasPrice: 50n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const;
  assert.equal(factsOf({ ...legacy, chainId: undefined }).chain_id, undefined);
  assert.equal(factsOf({ ...legacy, chainId: 8453n }).chain_id, 8453n);
});

test("without an interface there is a selector, but no name and no arguments", () => {
  const facts = ethereumStruct(base, from, undefined);
  assert.deepEqual(facts.function_signature, new EvmText("0xa9059cbb"));
  assert.equal(facts.function_name, "");
  assert.equal(facts.contract_call_args, undefined);
});

test("a known function with one byte more or less than its arguments has neither arguments nor a name, not even an empty one", () => {
  for (const data of [Uint8Array.of(...transfer, 0), transfer.subarray(0, -1), transfer.subarray(0, 4)]) {
    const facts = factsOf({ data });
    assert.equal(facts.function_name, undefined);
    assert.equal(facts.contract_call_args, undefined);
    assert.deepEqual(facts.function_signature, new EvmText("0xa9059cbb"));
  }
});

test("a function that the interface does not have has an empty name, whatever follows", () => {
  for (const data of [fromHex("deadbeef"), fromHex("deadbeef00"), fromHex("a9059c")]) {
    const facts = factsOf({ data });
    assert.equal(facts.function_name, "");
    assert.equal(facts.contract_call_args, undefined);
  }
});

test("the code of a new contract is no call, whatever it begins with", () => {
  const facts = factsOf({ to: undefined });
  assert.deepEqual(facts.to, new EvmText(""));
  assert.deepEqual(facts.function_signature, new EvmText(""));
  assert.equal(facts.function_name, "");
  assert.equal(facts.contract_call_args, undefined);
});

test("empty data is 0x and calls nothing", () => {
  const facts = factsOf({ data: new Uint8Array() });
  assert.deepEqual(facts.data, new EvmText("0x"));
  assert.deepEqual(facts.function_signature, new EvmText(""));
  assert.deepEqual(factsOf({ data: fromHex("a9059c") }).function_signature, new EvmText(""));
});

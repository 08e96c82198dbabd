/** The facts of one activity per namespace against the static types that policies were checked with. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as btc from "@scure/btc-signer";
import { createContract, ERC20 } from "micro-eth-signer/abi.js";
import { type EthereumTransaction, serialiseEthereum } from "../../chains/ethereum.ts";
import { serialiseSolana } from "../../chains/solana.ts";
import { serialiseTron } from "../../chains/tron.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { parseInterface } from "../interfaces/contract_interface.ts";
import { EvmText, type Struct, type Value } from "../values/values.ts";
import type { PolicyType } from "../vocabulary/types.ts";
import { vocabularies } from "../vocabulary/vocabulary.ts";
import { type KeyView, viewsOf } from "./condition_views.ts";
import type { ConditionFacts } from "./facts.ts";

const address = new Uint8Array(20).fill(0x11);
const key: KeyView = {
  kind: "walletAccount",
  wallet: { walletId: "w", walletName: "Treasury", imported: false, exported: false },
  address: `0x${toHex(address)}`,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  path: "m/44'/60'/0'/0/0",
  curve: "CURVE_SECP256K1",
  publicKey: "",
};

/** Refuses a value that is not of its static type, or that has a field nobody knows; returns the fields without a value. */
function unfilled(type: PolicyType, value: Value | undefined, path: string): string[] {
  if (value === undefined) return [path];
  switch (type.kind) {
    case "list":
      assert.ok(Array.isArray(value), path);
      return value.flatMap((item: Value, i) => unfilled(type.of, item, `${path}[${i}]`));
    case "struct": {
      const names = Object.keys(value);
      for (const name of names) assert.ok(Object.hasOwn(type.fields, name), `${path}.${name} is not in the vocabulary`);
      return Object.entries(type.fields).flatMap(([name, of]) =>
        unfilled(of, (value as Struct)[name], `${path}.${name}`),
      );
    }
    case "map":
      assert.ok(value instanceof Map, path);
      return [];
    case "string":
      assert.ok(typeof value === "string" || value instanceof EvmText, path);
      return [];
    default:
      assert.equal(typeof value, type.kind === "int" ? "bigint" : "boolean", path);
      return [];
  }
}

function unfilledIn(view: ConditionFacts, ...[namespace = "", name = ""]: string[]): string[] {
  const root = vocabularies.condition[namespace];
  assert.ok(root?.kind === "struct");
  const type = root.fields[name];
  assert.ok(type !== undefined);
  const shown = view[namespace as "eth"] as Readonly<Record<string, Struct>> | undefined;
  return unfilled(type, shown?.[name], `${namespace}.${name}`);
}

function viewOf(type: string, bytes: Uint8Array, text = ""): ConditionFacts {
  const [view] = viewsOf({
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
    params: { type: `TRANSACTION_TYPE_${type}`, unsignedTransaction: toHex(bytes) },
    key,
    findInterface: (kind) => (text === "" ? undefined : parseInterface(kind, text)),
  });
  return view ?? assert.fail("no view");
}

const ethereum: EthereumTransaction = {
  type: "TYPE_2",
  chainId: 1n,
  nonce: 0n,
  gas: 1n,
  gasPrice: 0n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  to: address,
  value: 0n,
  data: createContract(ERC20).transfer.encodeInput({ to: `0x${toHex(address)}`, value: 1n }),
  accessList: [],
  maxFeePerBlobGas: 0n,
  blobVersionedHashes: [],
  authorizationList: [],
};

test("keys fill all that policies can ask about them", () => {
  const view = viewOf("ETHEREUM", serialiseEthereum(ethereum));
  for (const name of ["wallet", "wallet_account"] as const) {
    assert.deepEqual(unfilled(vocabularies.condition[name] ?? assert.fail(), view[name], name), []);
  }
});

test("Ethereum and Tempo", () => {
  assert.deepEqual(unfilledIn(viewOf("ETHEREUM", serialiseEthereum(ethereum), JSON.stringify(ERC20)), "eth", "tx"), []);
  assert.deepEqual(unfilledIn(viewOf("ETHEREUM", serialiseEthereum(ethereum)), "eth", "tx"), [
    "eth.tx.contract_call_args",
  ]);
  const tempo = "76e501808080d8d79470997970c51812dc3a010c7d01b50e0d17dc79c88080c0808080808080c0";
  assert.deepEqual(unfilledIn(viewOf("TEMPO", fromHex(tempo)), "tempo", "tx"), []);
});

test("Solana", () => {
  const k = (n: number) => new Uint8Array(32).fill(n);
  const token = fromHex("06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9");
  const call = (programIndex: number, accounts: number[], data: string) => ({
    programIndex,
    accounts: Uint8Array.from(accounts),
    data: fromHex(data),
  });
  const bytes = serialiseSolana({
    signatures: [new Uint8Array(64)],
    message: {
      version: 0,
      requiredSignatures: 1,
      readonlySigned: 0,
      readonlyUnsigned: 2,
      accountKeys: [k(1), k(0), token],
      recentBlockhash: k(9),
      instructions: [call(1, [0, 3], "02000000e803000000000000"), call(2, [0, 3, 0], "030500000000000000")],
      addressTableLookups: [{ tableKey: k(7), writableIndexes: Uint8Array.of(1), readonlyIndexes: new Uint8Array() }],
    },
  });
  const instruction = (name: string, discriminator: number, type: unknown) => ({
    name,
    discriminator: [discriminator],
    accounts: [{ name: "from" }],
    args: [{ name: "rest", type }],
  });
  const instructions = [instruction("send", 2, { array: ["u8", 11] }), instruction("transfer", 3, "u64")];
  assert.deepEqual(
    unfilledIn(viewOf("SOLANA", bytes, JSON.stringify({ instructions, types: [] })), "solana", "tx"),
    [],
  );
  assert.deepEqual(unfilledIn(viewOf("SOLANA", bytes), "solana", "tx"), [
    "solana.tx.instructions[0].parsed_instruction_data",
    "solana.tx.instructions[1].parsed_instruction_data",
  ]);
});

test("Bitcoin", () => {
  const { script } = btc.p2wpkh(fromHex("038318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75"));
  const transaction = new btc.Transaction({ version: 2 });
  transaction.addInput({ txid: "11".repeat(32), index: 0, witnessUtxo: { script, amount: 5n } });
  transaction.addOutput({ script, amount: 4n });
  assert.deepEqual(unfilledIn(viewOf("BITCOIN", transaction.toPSBT(0)), "bitcoin", "tx"), []);
});

test("Tron: the fields of other contract types are without a value", () => {
  const account = Uint8Array.of(0x41, ...address);
  const bytes = serialiseTron({
    refBlockBytes: fromHex("abcd"),
    refBlockNum: 0n,
    refBlockHash: fromHex("01"),
    expiration: 1n,
    data: new Uint8Array(),
    contract: [
      { type: "TransferContract", value: { ownerAddress: account, toAddress: account, amount: 5n }, permissionId: 0 },
    ],
    timestamp: 1n,
    feeLimit: 0n,
  });
  const missing = unfilledIn(viewOf("TRON", bytes), "tron", "tx");
  assert.ok(missing.includes("tron.tx.contract[0].contract_address"));
  for (const name of ["type", "permission_id", "owner_address", "to_address", "amount"]) {
    assert.ok(!missing.includes(`tron.tx.contract[0].${name}`), name);
  }
});

test("typed data and authorizations", () => {
  const typedData = {
    types: { Mail: [{ name: "to", type: "string" }] },
    primaryType: "Mail",
    domain: { name: "A", version: "1", chainId: 1, verifyingContract: `0x${toHex(address)}` },
    message: { to: "x" },
  };
  const authorization = { address: `0x${toHex(address)}`, chainId: 1, nonce: 0 };
  for (const [encoding, name, payload] of [
    ["EIP712", "eip_712", typedData],
    ["EIP7702_AUTHORIZATION", "eip_7702_authorization", authorization],
  ] as const) {
    const [view] = viewsOf({
      type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
      params: { encoding: `PAYLOAD_ENCODING_${encoding}`, payload: JSON.stringify(payload) },
      key,
      findInterface: () => undefined,
    });
    assert.deepEqual(unfilledIn(view ?? assert.fail(), "eth", name), []);
  }
});

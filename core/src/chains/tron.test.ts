import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { fromHex, toHex } from "../encoding/hex.ts";
import { writeOccurrence } from "../encoding/protobuf.ts";
import {
  parseTron,
  serialiseTron,
  type TronContract,
  type TronTransaction,
  toTronAddress,
  tronDigest,
  withTronSignature,
} from "./tron.ts";
import { tronContracts } from "./tron_contracts.ts";

const address = (n: number) => Uint8Array.of(0x41, ...new Uint8Array(20).fill(n));
const [ownerAddress, other] = [address(1), address(2)];
const none = new Uint8Array();

const permission = {
  type: "Active",
  id: 2,
  permissionName: "trade",
  threshold: 2n,
  parentId: 0,
  operations: new Uint8Array(32).fill(0x7f),
  keys: [
    { address: ownerAddress, weight: 1n },
    { address: other, weight: 1n },
  ],
} as const;

/** One of each, every field set. */
const contracts: readonly TronContract[] = [
  { type: "AccountCreateContract", value: { ownerAddress, accountAddress: other, type: 1 }, permissionId: 0 },
  { type: "TransferContract", value: { ownerAddress, toAddress: other, amount: 2n ** 63n - 1n }, permissionId: 0 },
  {
    type: "TransferAssetContract",
    value: { assetName: fromHex("31303030303031"), ownerAddress, toAddress: other, amount: 5n },
    permissionId: 0,
  },
  {
    type: "VoteWitnessContract",
    value: { ownerAddress, votes: [{ voteAddress: other, voteCount: 3n }], support: true },
    permissionId: 0,
  },
  { type: "AccountUpdateContract", value: { accountName: fromHex("616c"), ownerAddress }, permissionId: 0 },
  {
    type: "FreezeBalanceContract",
    value: { ownerAddress, frozenBalance: 1n, frozenDuration: 3n, resource: "ENERGY", receiverAddress: other },
    permissionId: 0,
  },
  {
    type: "UnfreezeBalanceContract",
    value: { ownerAddress, resource: "BANDWIDTH", receiverAddress: none },
    permissionId: 0,
  },
  { type: "WithdrawBalanceContract", value: { ownerAddress }, permissionId: 0 },
  { type: "SetAccountIdContract", value: { accountId: fromHex("6964"), ownerAddress }, permissionId: 0 },
  {
    type: "CreateSmartContract",
    value: {
      ownerAddress,
      newContract: {
        originAddress: ownerAddress,
        contractAddress: none,
        abi: {
          entries: [
            {
              anonymous: false,
              constant: true,
              name: "get",
              inputs: [],
              outputs: [{ indexed: false, name: "", type: "uint256" }],
              type: 2,
              payable: false,
              stateMutability: 2,
            },
          ],
        },
        bytecode: fromHex("6080"),
        callValue: 1n,
        consumeUserResourcePercent: 100n,
        name: "Store",
        originEnergyLimit: 1_000_000n,
      },
      callTokenValue: 1n,
      tokenId: 1_000_001n,
    },
    permissionId: 0,
  },
  {
    type: "TriggerSmartContract",
    value: {
      ownerAddress,
      contractAddress: other,
      callValue: 1n,
      data: fromHex("a9059cbb"),
      callTokenValue: 2n,
      tokenId: 1_000_001n,
    },
    permissionId: 2,
  },
  {
    type: "UpdateSettingContract",
    value: { ownerAddress, contractAddress: other, consumeUserResourcePercent: 5n },
    permissionId: 0,
  },
  {
    type: "UpdateEnergyLimitContract",
    value: { ownerAddress, contractAddress: other, originEnergyLimit: 5n },
    permissionId: 0,
  },
  {
    type: "AccountPermissionUpdateContract",
    value: { ownerAddress, owner: { ...permission, type: "Owner", id: 0 }, witness: undefined, actives: [permission] },
    permissionId: 0,
  },
  { type: "ClearABIContract", value: { ownerAddress, contractAddress: other }, permissionId: 0 },
  { type: "UpdateBrokerageContract", value: { ownerAddress, brokerage: 20 }, permissionId: 0 },
  { type: "FreezeBalanceV2Contract", value: { ownerAddress, frozenBalance: 1n, resource: "ENERGY" }, permissionId: 0 },
  {
    type: "UnfreezeBalanceV2Contract",
    value: { ownerAddress, unfreezeBalance: 1n, resource: "TRON_POWER" },
    permissionId: 0,
  },
  { type: "WithdrawExpireUnfreezeContract", value: { ownerAddress }, permissionId: 0 },
  {
    type: "DelegateResourceContract",
    value: { ownerAddress, resource: "ENERGY", balance: 1n, receiverAddress: other, lock: true, lockPeriod: 86_400n },
    permissionId: 0,
  },
  {
    type: "UnDelegateResourceContract",
    value: { ownerAddress, resource: "BANDWIDTH", balance: 1n, receiverAddress: other },
    permissionId: 0,
  },
  { type: "CancelAllUnfreezeV2Contract", value: { ownerAddress }, permissionId: 0 },
];

const transactionOf = (contract: TronContract): TronTransaction => ({
  refBlockBytes: fromHex("e942"),
  refBlockNum: 0n,
  refBlockHash: fromHex("6394747da9fee421"),
  expiration: 1_752_562_632_000n,
  data: none,
  contract: [contract],
  timestamp: 1_752_562_572_000n,
  feeLimit: 150_000_000n,
});

test("every contract type of the table survives with every fact", () => {
  assert.deepEqual(
    contracts.map(({ type }) => type),
    Object.keys(tronContracts),
  );
  for (const contract of contracts) {
    const transaction = transactionOf(contract);
    const bytes = serialiseTron(transaction);
    assert.deepEqual(parseTron(bytes), transaction, contract.type);
    assert.deepEqual(tronDigest(transaction), sha256(bytes), contract.type);
  }
});

const bytes = (number: number, content: Uint8Array) => concatBytes(...writeOccurrence(number, content));
const varint = (number: number, content: bigint) => concatBytes(...writeOccurrence(number, content));
const url = (name: string) => bytes(1, new TextEncoder().encode(`type.googleapis.com/protocol.${name}`));
const transfer = concatBytes(bytes(1, ownerAddress), bytes(2, other), varint(3, 5n));

/** A transaction around a contract's parts. */
function around(value: Uint8Array, { type = 1n, name = "TransferContract", extra = none } = {}): Uint8Array {
  const contract = concatBytes(varint(1, type), bytes(2, concatBytes(url(name), bytes(2, value))), extra);
  return concatBytes(bytes(1, fromHex("e942")), bytes(11, contract), varint(14, 7n));
}

test("the signed form is the message that nodes take", () => {
  const transaction = parseTron(around(transfer));
  const [r, s] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const signed = withTronSignature(transaction, { r, s, yParity: 1 });
  const raw = toHex(around(transfer));
  assert.equal(toHex(signed), `0a${(raw.length / 2).toString(16)}${raw}1241${toHex(r)}${toHex(s)}1c`);
  assert.throws(() => withTronSignature(transaction, { r, s: new Uint8Array(32).fill(0xfe), yParity: 1 }), {
    code: "internal",
  });
  assert.equal(
    toTronAddress(fromHex("41f2cd810c48c401d392ead3c6e1e1cb9f57750a58")),
    "TY72iA3SBtrds3QLYsS7LwYfkzXwAXCRWT",
  );
  assert.equal(toTronAddress(none), "");
});

test("everything that is not in the one form is refused, with the reason", () => {
  const good = around(transfer);
  assert.deepEqual(parseTron(good).contract[0].value, { ownerAddress, toAddress: other, amount: 5n });
  const contract = good.subarray(4, -2);
  for (const [why, input] of [
    [/0 contracts where one belongs/, none],
    [/2 contracts where one belongs/, concatBytes(contract, contract)],
    [/an address is missing/, around(concatBytes(bytes(2, other), varint(3, 5n)))],
    [/an address is missing or misshapen/, around(concatBytes(bytes(1, ownerAddress.subarray(1)), bytes(2, other)))],
    [/an address is missing or misshapen/, around(concatBytes(bytes(1, address(1).fill(0x42, 0, 1)), bytes(2, other)))],
    [/unknown field 4/, around(concatBytes(transfer, varint(4, 1n)))],
    [/field 1 out of order/, around(concatBytes(bytes(2, other), bytes(1, ownerAddress)))],
    [/field 3 twice/, around(concatBytes(transfer, varint(3, 5n)))],
    [/field 3 spelled out at its default/, around(concatBytes(bytes(1, ownerAddress), bytes(2, other), varint(3, 0n)))],
    [/field 3 of another type/, around(concatBytes(bytes(1, ownerAddress), bytes(2, other), bytes(3, ownerAddress)))],
    [/field 1 of another type/, around(concatBytes(varint(1, 5n), bytes(2, other)))],
    [/a negative number/, around(concatBytes(bytes(1, ownerAddress), bytes(2, other), varint(3, 2n ** 64n - 1n)))],
    [/not the shortest form/, around(concatBytes(bytes(1, ownerAddress), bytes(2, other), fromHex("188500")))],
    [/too short/, around(concatBytes(bytes(1, ownerAddress), fromHex("1216")))],
    [/a TransferContract that carries another message/, around(transfer, { name: "TriggerSmartContract" })],
    [/a TriggerSmartContract that carries another message/, around(transfer, { type: 31n })],
    [/contract type 51 is not supported/, around(transfer, { type: 51n, name: "ShieldedTransferContract" })],
    [/contract type 7 is not supported/, around(transfer, { type: 7n })],
    [/unknown field 3/, around(transfer, { extra: bytes(3, ownerAddress) })],
    [/field 5 spelled out at its default/, around(transfer, { extra: varint(5, 0n) })],
    [/unknown field 9/, concatBytes(bytes(9, none), good)],
    [/unknown field 12/, concatBytes(good.subarray(0, -2), bytes(12, fromHex("00")))],
    [/unknown field 2/, concatBytes(bytes(1, fromHex("e942")), bytes(2, new Uint8Array(65)))],
    [
      /an unknown word/,
      around(concatBytes(bytes(1, ownerAddress), varint(3, 9n)), { type: 54n, name: "FreezeBalanceV2Contract" }),
    ],
    [/over 512000 bytes/, new Uint8Array(512_001)],
  ] as const) {
    assert.throws(() => parseTron(input), { errorCode: "INVALID_TRANSACTION", message: why });
  }
});

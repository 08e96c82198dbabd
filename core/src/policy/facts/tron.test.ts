import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTron, serialiseTron, type TronContract, toTronAddress } from "../../chains/tron.ts";
import { fromHex } from "../../encoding/hex.ts";
import type { Struct } from "../values/values.ts";
import { tronStruct } from "./tron.ts";

const address = (n: number) => Uint8Array.of(0x41, ...new Uint8Array(20).fill(n));
const name = (n: number) => toTronAddress(address(n));
const ownerAddress = address(1);

function transactionOf(contract: TronContract) {
  return tronStruct(
    parseTron(
      serialiseTron({
        refBlockBytes: fromHex("abcd"),
        refBlockNum: 0n,
        refBlockHash: fromHex("0102030405060708"),
        expiration: 1_700_000_060_000n,
        data: fromHex("6869"),
        contract: [contract],
        timestamp: 1_700_000_000_000n,
        feeLimit: 15_000_000n,
      }),
    ),
  );
}

function contractOf(contract: TronContract): Struct {
  const [only] = transactionOf(contract).contract as readonly Struct[];
  return only ?? assert.fail("no contract");
}

const head = (type: string) => ({ type, permission_id: 2n, owner_address: name(1) });
const permissionId = 2;

test("a transfer: the transaction's own fields and the contract's", () => {
  const contract = {
    type: "TransferContract",
    value: { ownerAddress, toAddress: address(2), amount: 5n },
    permissionId,
  } as const;
  assert.deepEqual(transactionOf(contract), {
    ref_block_bytes: "abcd",
    ref_block_hash: "0102030405060708",
    data: "6869",
    expiration: 1_700_000_060_000n,
    timestamp: 1_700_000_000_000n,
    fee_limit: 15_000_000n,
    contract: [{ ...head("TransferContract"), to_address: name(2), amount: 5n }],
  });
});

test("calls, resources and freezing show their own fields and no others", () => {
  const data = fromHex("a9059cbb");
  const call = {
    ownerAddress,
    contractAddress: address(3),
    callValue: 0n,
    data,
    callTokenValue: 1n,
    tokenId: 1_000_001n,
  };
  assert.deepEqual(contractOf({ type: "TriggerSmartContract", value: call, permissionId }), {
    ...head("TriggerSmartContract"),
    contract_address: name(3),
    call_value: 0n,
    data: "a9059cbb",
    call_token_value: 1n,
    token_id: 1_000_001n,
  });
  const lent = { ownerAddress, resource: "ENERGY", balance: 9n, receiverAddress: address(4) } as const;
  const shown = { resource: "ENERGY", balance: 9n, receiver_address: name(4) };
  assert.deepEqual(
    contractOf({ type: "DelegateResourceContract", value: { ...lent, lock: true, lockPeriod: 3n }, permissionId }),
    { ...head("DelegateResourceContract"), ...shown, lock: true, lock_period: 3n },
  );
  assert.deepEqual(contractOf({ type: "UnDelegateResourceContract", value: lent, permissionId }), {
    ...head("UnDelegateResourceContract"),
    ...shown,
  });
  const resource = "BANDWIDTH";
  assert.deepEqual(
    contractOf({ type: "FreezeBalanceV2Contract", value: { ownerAddress, frozenBalance: 7n, resource }, permissionId }),
    { ...head("FreezeBalanceV2Contract"), frozen_balance: 7n, resource },
  );
  assert.deepEqual(
    contractOf({
      type: "UnfreezeBalanceV2Contract",
      value: { ownerAddress, unfreezeBalance: 7n, resource },
      permissionId,
    }),
    { ...head("UnfreezeBalanceV2Contract"), unfreeze_balance: 7n, resource },
  );
});

test("tokens are not TRX: a token transfer shows no amount and no recipient", () => {
  const value = { assetName: fromHex("31"), ownerAddress, toAddress: address(2), amount: 5n };
  assert.deepEqual(contractOf({ type: "TransferAssetContract", value, permissionId }), head("TransferAssetContract"));
});

test("permissions are numbered by their place, as the chain does, whatever the message says", () => {
  const permission = {
    type: "Active",
    id: 9,
    permissionName: "trade",
    threshold: 2n,
    parentId: 0,
    operations: fromHex("7f00"),
    keys: [{ address: address(5), weight: 1n }],
  } as const;
  const value = {
    ownerAddress,
    owner: { ...permission, type: "Owner" },
    witness: undefined,
    actives: [permission, permission],
  } as const;
  const shown = (type: string, id: bigint) => ({
    type,
    id,
    permission_name: "trade",
    threshold: 2n,
    parent_id: 0n,
    operations: "7f00",
    keys: [{ address: name(5), weight: 1n }],
  });
  assert.deepEqual(contractOf({ type: "AccountPermissionUpdateContract", value, permissionId }), {
    ...head("AccountPermissionUpdateContract"),
    owner: shown("Owner", 0n),
    witness: undefined,
    actives: [shown("Active", 2n), shown("Active", 3n)],
  });
});

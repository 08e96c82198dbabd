/** `tron.tx`, from the message that is signed. Addresses are base58, bytes are hex without `0x`. */
import { type TronContract, type TronTransaction, toTronAddress } from "../../chains/tron.ts";
import type { TronContractType, TronContractValue } from "../../chains/tron_contracts.ts";
import { toHex } from "../../encoding/hex.ts";
import type { Struct } from "../values/values.ts";

/** The facts of a transaction. */
export function tronStruct(transaction: TronTransaction): Struct {
  const { refBlockBytes, refBlockHash, data, expiration, timestamp, feeLimit, contract } = transaction;
  return {
    ref_block_bytes: toHex(refBlockBytes),
    ref_block_hash: toHex(refBlockHash),
    data: toHex(data),
    expiration,
    timestamp,
    fee_limit: feeLimit,
    contract: contract.map(contractStruct),
  };
}

function contractStruct({ type, permissionId, value }: TronContract): Struct {
  const own = rows[type] as ((value: TronContract["value"]) => Struct) | undefined;
  return {
    type,
    permission_id: BigInt(permissionId),
    owner_address: toTronAddress(value.ownerAddress),
    ...own?.(value),
  };
}

/**
 * What a contract shows besides, by type; a type without a row shows nothing more. That is on purpose where names would be
 * the same: the amount of a TransferAssetContract counts tokens, and a policy that limits `amount` means TRX.
 */
const rows: { readonly [T in TronContractType]?: (value: TronContractValue<T>) => Struct } = {
  TransferContract: ({ toAddress, amount }) => ({ to_address: toTronAddress(toAddress), amount }),
  TriggerSmartContract: ({ contractAddress, callValue, data, callTokenValue, tokenId }) => ({
    contract_address: toTronAddress(contractAddress),
    call_value: callValue,
    data: toHex(data),
    call_token_value: callTokenValue,
    token_id: tokenId,
  }),
  DelegateResourceContract: ({ resource, balance, receiverAddress, lock, lockPeriod }) => ({
    resource,
    balance,
    receiver_address: toTronAddress(receiverAddress),
    lock,
    lock_period: lockPeriod,
  }),
  UnDelegateResourceContract: ({ resource, balance, receiverAddress }) => ({
    resource,
    balance,
    receiver_address: toTronAddress(receiverAddress),
  }),
  FreezeBalanceV2Contract: ({ frozenBalance, resource }) => ({ frozen_balance: frozenBalance, resource }),
  UnfreezeBalanceV2Contract: ({ unfreezeBalance, resource }) => ({ unfreeze_balance: unfreezeBalance, resource }),
  AccountPermissionUpdateContract: ({ owner, witness, actives }) => ({
    owner: owner && permissionStruct(owner, 0),
    witness: witness && permissionStruct(witness, 1),
    actives: actives.map((active, i) => permissionStruct(active, 2 + i)),
  }),
};

type Permission = TronContractValue<"AccountPermissionUpdateContract">["actives"][number];

/** The chain numbers permissions by their place, whatever the message says. */
function permissionStruct(permission: Permission, id: number): Struct {
  const { type, permissionName, threshold, parentId, operations, keys } = permission;
  return {
    type,
    id: BigInt(id),
    permission_name: permissionName,
    threshold,
    parent_id: BigInt(parentId),
    operations: toHex(operations),
    keys: keys.map(({ address, weight }) => ({ address: toTronAddress(address), weight })),
  };
}

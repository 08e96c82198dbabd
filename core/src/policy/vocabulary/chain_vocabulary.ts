/** What policies see of the payloads that are parsed: transactions of five chains, typed data and code delegations. */
import { bool, int, list, map, type PolicyType, string, struct } from "./types.ts";

/** The same type for several names. */
function each(type: PolicyType, ...names: readonly string[]): Record<string, PolicyType> {
  return Object.fromEntries(names.map((name) => [name, type]));
}

export const eth = struct("eth", {
  tx: struct("eth.tx", {
    ...each(string, "from", "to", "data", "type", "function_name", "function_signature"),
    ...each(int, "value", "gas", "gas_price", "chain_id", "nonce"),
    ...each(int, "max_fee_per_gas", "max_priority_fee_per_gas", "max_fee_per_blob_gas"),
    contract_call_args: map,
  }),
  eip_712: struct("eth.eip_712", {
    primary_type: string,
    domain: struct("eth.eip_712.domain", { name: string, version: string, chain_id: int, verifying_contract: string }),
    message: map,
  }),
  eip_7702_authorization: struct("eth.eip_7702_authorization", { address: string, chain_id: int, nonce: int }),
});

const addressTableLookup = struct("an address table lookup", {
  address_table_key: string,
  writable_indexes: list(int),
  readonly_indexes: list(int),
});

const instruction = struct("an instruction", {
  program_key: string,
  accounts: list(struct("an instruction's account", { account_key: string, signer: bool, writable: bool })),
  instruction_data_hex: string,
  address_table_lookups: list(addressTableLookup),
  parsed_instruction_data: struct("parsed_instruction_data", {
    instruction_name: string,
    discriminator: string,
    named_accounts: map,
    program_call_args: map,
  }),
});

export const solana = struct("solana", {
  tx: struct("solana.tx", {
    account_keys: list(string),
    program_keys: list(string),
    instructions: list(instruction),
    transfers: list(struct("a transfer", { from: string, to: string, amount: int })),
    spl_transfers: list(
      struct("an SPL transfer", {
        ...each(string, "from", "to", "owner", "token_mint"),
        amount: int,
        signers: list(string),
      }),
    ),
    address_table_lookups: list(addressTableLookup),
    recent_blockhash: string,
  }),
});

export const bitcoin = struct("bitcoin", {
  tx: struct("bitcoin.tx", {
    version: string,
    inputs: list(struct("an input", { tx_id: string, vout: int, sequence: int })),
    outputs: list(struct("an output", { value: int, ...each(string, "script_pubkey", "address", "address_type") })),
    locktime: struct("bitcoin.tx.locktime", { amount: int, type: string }),
    fee: int,
  }),
});

const permission = struct("a permission", {
  ...each(string, "type", "permission_name", "operations"),
  ...each(int, "id", "threshold", "parent_id"),
  keys: list(struct("a permission's key", { address: string, weight: int })),
});

/** The fields of every type of contract: a transaction says only at run time which one it has. */
const tronContract = struct("a contract", {
  ...each(string, "type", "owner_address", "to_address", "contract_address", "data", "resource", "receiver_address"),
  ...each(int, "permission_id", "amount", "call_value", "call_token_value", "token_id"),
  ...each(int, "balance", "lock_period", "frozen_balance", "unfreeze_balance"),
  lock: bool,
  owner: permission,
  witness: permission,
  actives: list(permission),
});

export const tron = struct("tron", {
  tx: struct("tron.tx", {
    ...each(string, "ref_block_bytes", "ref_block_hash", "data"),
    ...each(int, "expiration", "timestamp", "fee_limit"),
    contract: list(tronContract),
  }),
});

export const tempo = struct("tempo", {
  tx: struct("tempo.tx", {
    ...each(int, "chain_id", "nonce", "gas_limit", "max_fee_per_gas", "max_priority_fee_per_gas"),
    ...each(int, "valid_before", "valid_after"),
    ...each(string, "from", "fee_token"),
    calls: list(struct("a call", each(string, "to", "input", "function_signature"))),
  }),
});

/**
 * What policies can name, written down a second time from the published tables, and random data of these shapes.
 * A string is a scalar, `[item]` a list, an object a struct; a field whose name ends in `?` may have no value.
 */
import type { Fields, Plain } from "./naive_evaluate.ts";
import type { Chance } from "./seeded.ts";

export type Shape = "bool" | "int" | "text" | "hex" | "time" | "map" | readonly [Shape] | Struct;
export type Struct = { readonly [field: string]: Shape };

export function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

const texts = ["text"] as const;
const ints = ["int"] as const;

const wallet = { id: "text", imported: "bool", exported: "bool", label: "text" } as const;
const lookup = { address_table_key: "text", writable_indexes: ints, readonly_indexes: ints } as const;
const permission = {
  type: "text",
  id: "int",
  permission_name: "text",
  threshold: "int",
  parent_id: "int",
  operations: "text",
  keys: [{ address: "text", weight: "int" }],
} as const;
const derivation = { type: "text", signing_leaf: { leaf_id: "text" }, static_deposit: { index: "int" } } as const;
const signatureRequest = {
  derivation,
  message: "text",
  verifying_key: "text",
  operator_commitments: [{ id: "text", hiding: "text", binding: "text" }],
  adaptor_public_key: "text",
} as const;
const operatorRecipients = [{ operator_id: "text", encryption_public_key: "text" }] as const;

/** Parameters by name; which of them an activity has depends on its kind. */
export const params: Struct = {
  hash_function: "text",
  encoding: "text",
  type: "text",
  user_ids: texts,
  user_id: "text",
  api_key_ids: texts,
  target_public_key: "text",
  wallet_id: "text",
  otp_length: "int",
  session_profile_id: "text",
  endpoint_id: "text",
  sign_with: "text",
  signatures: [signatureRequest],
  transfer: {
    transfer_id: "text",
    leaves: [
      {
        leaf_id: "text",
        old_leaf_derivation: derivation,
        new_leaf_derivation: derivation,
        refund_signature: "text",
      },
    ],
    threshold: "int",
    operator_recipients: operatorRecipients,
    receiver_public_key: "text",
  },
  claim: {
    leaves: [{ leaf_id: "text", ciphertext: "text", sender_signature: "text" }],
    threshold: "int",
    operator_recipients: operatorRecipients,
    transfer_id: "text",
    sender_identity_public_key: "text",
  },
  lightning_receive: { threshold: "int", operator_recipients: operatorRecipients },
  slippage_bps: "int",
  output_token: "text",
  destination_address: "text",
  input_amount: "int",
  sponsor: "bool",
  chain: "text",
  wrapper_address: "text",
  assets: "int",
  amount_value: "text",
  client_fee_bps: "int",
  client_fee_wallet: "text",
  deposits_disabled: "bool",
};

/** Namespaces of a condition, by the words that a policy asks for. */
export const namespaces: { readonly [name: string]: Shape } = {
  wallet,
  wallets: [wallet],
  wallet_account: { address: "hex", path_indexes: ints, path_hardened: ["bool"] },
  private_key: { id: "text", tags: texts, imported: "bool", exported: "bool", label: "text" },
  secret: { static_properties: "map" },
  "eth.tx": {
    from: "hex",
    to: "hex",
    data: "hex",
    value: "int",
    gas: "int",
    gas_price: "int",
    chain_id: "int",
    nonce: "int",
    max_fee_per_gas: "int",
    max_priority_fee_per_gas: "int",
    max_fee_per_blob_gas: "int",
    type: "text",
    function_name: "text",
    function_signature: "hex",
    "contract_call_args?": "map",
  },
  "eth.eip_712": {
    primary_type: "text",
    domain: { "name?": "text", "version?": "text", "chain_id?": "int", "verifying_contract?": "hex" },
    message: "map",
  },
  "eth.eip_7702_authorization": { address: "hex", chain_id: "int", nonce: "int" },
  "solana.tx": {
    account_keys: texts,
    program_keys: texts,
    instructions: [
      {
        program_key: "text",
        accounts: [{ account_key: "text", signer: "bool", writable: "bool" }],
        instruction_data_hex: "text",
        address_table_lookups: [lookup],
        "parsed_instruction_data?": {
          instruction_name: "text",
          discriminator: "text",
          named_accounts: "map",
          program_call_args: "map",
        },
      },
    ],
    transfers: [{ from: "text", to: "text", amount: "int" }],
    spl_transfers: [{ from: "text", to: "text", amount: "int", owner: "text", signers: texts, token_mint: "text" }],
    address_table_lookups: [lookup],
    recent_blockhash: "text",
  },
  "tron.tx": {
    ref_block_bytes: "text",
    ref_block_hash: "text",
    data: "text",
    expiration: "int",
    timestamp: "int",
    fee_limit: "int",
    contract: [
      {
        type: "text",
        permission_id: "int",
        owner_address: "text",
        "to_address?": "text",
        "amount?": "int",
        "contract_address?": "text",
        "call_value?": "int",
        "data?": "text",
        "resource?": "text",
        "lock?": "bool",
        "owner?": permission,
        "actives?": [permission],
      },
    ],
  },
  "bitcoin.tx": {
    version: "text",
    inputs: [{ tx_id: "text", vout: "int", sequence: "int" }],
    outputs: [{ value: "int", script_pubkey: "text", address: "text", address_type: "text" }],
    locktime: { amount: "int", type: "text" },
    "fee?": "int",
  },
  "tempo.tx": {
    chain_id: "int",
    nonce: "int",
    gas_limit: "int",
    max_fee_per_gas: "int",
    max_priority_fee_per_gas: "int",
    valid_before: "int",
    valid_after: "int",
    from: "hex",
    fee_token: "hex",
    calls: [{ to: "hex", input: "hex", function_signature: "hex" }],
  },
};

export const activity: Struct = { type: "text", kind: "text", resource: "text", action: "text" };

export const consensus: Struct = {
  approvers: [{ id: "text", tags: texts, email: "text", alias: "text" }],
  credentials: [{ id: "text", user_id: "text", type: "text", credential_id: "text", public_key: "text" }],
};

/** Few words, so that many comparisons hold; some are digits, and some the same but for their letter case. */
export const words = [
  ...[
    "",
    "a",
    "A",
    "b",
    "SIGN",
    "sign",
    "0",
    "1",
    "7",
    "007",
    "100",
    "-1",
    "+1",
    "1e2",
    " 1",
    "0x1",
    "0xab",
    "0xAB",
    "é",
    "😀x",
    "k",
    "\u212a",
  ],
  ...["0".repeat(90), `${"0".repeat(90)}7`, "9".repeat(77), "9".repeat(79)],
];
export const hexes = [
  "0x",
  "0xAb",
  "0xab",
  "0xaB01cd",
  "0xAB01CD",
  "0xa9059cbb",
  "0xA9059CBB0000000000000000DeaDBEEF",
  "12",
  "K",
];
export const keys = ["to", "amount", "calls", "0", "", "TO", "toString", "__proto__", "constructor"];
export const numbers = [0n, 1n, 2n, 3n, 7n, 100n, 8453n, 2n ** 53n, 2n ** 64n, 2n ** 127n, 2n ** 128n, 2n ** 256n - 1n];
const strangeNumbers = [-1n, -7n, -(2n ** 127n), -(2n ** 127n) - 1n, 2n ** 256n];

/** Data of a shape. */
export function randomOf(shape: Shape, chance: Chance, depth = 0): Plain {
  if (shape === "bool") return chance.once(2);
  if (shape === "int") return chance.of(numbers);
  if (shape === "text") return chance.of(words);
  if (shape === "hex") return { hex: chance.of(hexes) };
  if (shape === "time") throw new Error("there is only one time");
  if (shape === "map") return randomMap(chance, depth);
  if (isList(shape)) return Array.from({ length: chance.below(4) }, () => randomOf(shape[0], chance, depth));
  return randomFields(shape, chance, depth);
}

export function randomFields(shape: Struct, chance: Chance, depth = 0): Fields {
  const fields: Fields = {};
  for (const [name, of] of Object.entries(shape)) {
    const isOptional = name.endsWith("?");
    if (!isOptional || !chance.once(4)) fields[isOptional ? name.slice(0, -1) : name] = randomOf(of, chance, depth);
  }
  return fields;
}

/** Arguments or typed data: anything may be in there. */
function randomMap(chance: Chance, depth: number): Map<string, Plain> {
  const count = 1 + chance.below(4);
  return new Map(Array.from({ length: count }, () => [chance.of(keys), randomAny(chance, depth + 1)]));
}

function randomAny(chance: Chance, depth: number): Plain {
  const kind = chance.below(depth > 3 ? 5 : 8);
  if (kind === 0) return chance.once(2);
  if (kind === 1) return chance.once(8) ? chance.of(strangeNumbers) : chance.of(numbers);
  if (kind === 2) return chance.of(words);
  if (kind <= 4) return { hex: chance.of(hexes) };
  if (kind === 5) return randomMap(chance, depth);
  // Mostly of one kind, as arrays are, and sometimes mixed, as tuples are.
  if (kind === 6) return Array.from({ length: chance.below(4) }, () => randomAny(chance, depth + 1));
  const of = chance.of(["bool", "int", "text", "hex", "map"] as const);
  return Array.from({ length: chance.below(4) }, () => randomOf(of, chance, depth + 1));
}

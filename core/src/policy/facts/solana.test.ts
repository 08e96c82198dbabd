import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSolana, type SolanaMessage, serialiseSolana } from "../../chains/solana.ts";
import { toBase58 } from "../../encoding/base58.ts";
import { fromHex } from "../../encoding/hex.ts";
import { parseIdl } from "../interfaces/idl.ts";
import type { Struct, Value } from "../values/values.ts";
import { calledPrograms, solanaStruct } from "./solana.ts";

const key = (n: number) => new Uint8Array(32).fill(n);
const name = (n: number) => toBase58(key(n));
const token = fromHex("06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9");

const call = (programIndex: number, accounts: number[], data: string) => ({
  programIndex,
  accounts: Uint8Array.from(accounts),
  data: fromHex(data),
});

/** Keys: 1 pays, 2 is written to, then the System program, the Token program and a program of ours; two come from a table. */
const base: SolanaMessage = {
  version: 0,
  requiredSignatures: 1,
  readonlySigned: 0,
  readonlyUnsigned: 3,
  accountKeys: [key(1), key(2), key(0), token, key(8)],
  recentBlockhash: key(9),
  instructions: [
    call(2, [0, 5], "02000000e803000000000000"),
    call(3, [1, 6, 5, 0], "0c050000000000000002"),
    call(4, [0, 5, 6], "0705"),
  ],
  addressTableLookups: [{ tableKey: key(7), writableIndexes: Uint8Array.of(3), readonlyIndexes: Uint8Array.of(4) }],
};

const idl = parseIdl(
  JSON.stringify({
    instructions: [
      {
        name: "go",
        discriminator: [7],
        accounts: [{ name: "payer" }, { name: "pool" }],
        args: [{ name: "n", type: "u8" }],
      },
    ],
    types: [],
  }),
);

function factsOf(change: Partial<SolanaMessage> = {}, known = idl) {
  const message = { ...base, ...change };
  const transaction = { message, signatures: [new Uint8Array(64)] };
  const findIdl = (programKey: string) => (programKey === name(8) ? known : undefined);
  return solanaStruct(parseSolana(serialiseSolana(transaction)).message, findIdl);
}

const lookup = "ADDRESS_TABLE_LOOKUP";
const tokenKey = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

test("accounts, programs, tables and blockhash, with what comes from a table under its one name", () => {
  const facts = factsOf();
  assert.deepEqual(facts.account_keys, [name(1), name(2), name(0), tokenKey, name(8), lookup, lookup]);
  assert.deepEqual(facts.program_keys, [name(0), tokenKey, name(8)]);
  assert.deepEqual(facts.address_table_lookups, [
    { address_table_key: name(7), writable_indexes: [3n], readonly_indexes: [4n] },
  ]);
  assert.equal(facts.recent_blockhash, name(9));
  assert.deepEqual(calledPrograms(base), [name(0), tokenKey, name(8)]);
});

test("transfers of coins and tokens, amounts as numbers", () => {
  const facts = factsOf();
  assert.deepEqual(facts.transfers, [{ from: name(1), to: lookup, amount: 1000n }]);
  assert.deepEqual(facts.spl_transfers, [
    { from: name(2), to: lookup, amount: 5n, owner: name(1), signers: [], token_mint: lookup },
  ]);
});

test("an instruction shows its accounts with their rights, its data, and its parts where an IDL has them", () => {
  const [transfer, , own] = factsOf().instructions as readonly Struct[];
  assert.deepEqual(
    { ...own },
    {
      program_key: name(8),
      accounts: [
        { account_key: name(1), signer: true, writable: true },
        { account_key: lookup, signer: false, writable: true },
        { account_key: lookup, signer: false, writable: false },
      ],
      instruction_data_hex: "0705",
      address_table_lookups: [{ address_table_key: name(7), writable_indexes: [3n], readonly_indexes: [4n] }],
      parsed_instruction_data: {
        instruction_name: "go",
        discriminator: "07",
        named_accounts: new Map([
          ["payer", name(1)],
          ["pool", lookup],
        ]),
        program_call_args: new Map<string, Value>([["n", 5n]]),
      },
    },
  );
  assert.equal(transfer?.parsed_instruction_data, undefined);
});

test("data that the IDL does not read has no parts", () => {
  for (const data of ["070501", "07", "0805", ""]) {
    const [own] = factsOf({ instructions: [call(4, [0, 1], data)] }).instructions as readonly Struct[];
    assert.equal(own?.parsed_instruction_data, undefined, data);
  }
});

test("a transfer that lacks its amount or accounts refuses the transaction, as no policy could see it", () => {
  const refused = { code: "invalid_argument", errorCode: "INVALID_TRANSACTION" };
  assert.throws(() => factsOf({ instructions: [call(2, [0], "02000000e803000000000000")] }), refused);
  assert.throws(() => factsOf({ instructions: [call(3, [1, 5, 0], "0305")] }), refused);
});

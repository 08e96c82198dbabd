import assert from "node:assert/strict";
import { test } from "node:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { mnemonicToSeedSync } from "@scure/bip39";
import { HDKey } from "micro-key-producer/slip10.js";
import { findVectors } from "../../test/vectors.ts";
import { fromBase58 } from "../encoding/base58.ts";
import { toHex } from "../encoding/hex.ts";
import { parseSolana, type SolanaMessage, serialiseSolana, solanaMessage, withSolanaSignature } from "./solana.ts";
import { solanaFacts } from "./solana_facts.ts";

type Argument = number | string | null | { length: number; chars: string } | { is_included: boolean; value: string };
type Case = {
  description: string;
  parameters: {
    address: string;
    construct: {
      version: 0 | null;
      header: { signers: number; readonly_signers: number; readonly_non_signers: number };
      accounts: string[];
      blockhash: string;
      instructions: {
        program_index: number;
        accounts: Record<string, number | number[]>;
        data: Record<string, Argument>;
      }[];
      luts: { account: string; readwrite: number[]; readonly: number[] }[];
    };
  };
  result: { expected_signature: string };
};

function littleEndian(value: number, length: number): number[] {
  return Array.from({ length }, (_, i) => Math.floor(value / 2 ** (8 * i)) % 256);
}

const system = "11111111111111111111111111111111";

/** How many bytes a number takes, by its name; ids of the System program are longer than all others. */
const lengths: Record<string, number> = {
  lamports: 8,
  space: 8,
  amount: 8,
  units: 4,
  decimals: 1,
  authority_type: 1,
  number_of_signers: 1,
};

/** The arguments of an instruction as its program reads them, in the order of the file. */
function dataOf(program: string, data: Record<string, Argument>): Uint8Array {
  const bytes = Object.entries(data).flatMap(([name, value]): number[] => {
    if (value === null) return [];
    if (name === "memo") return [...Buffer.from(String(value))];
    if (name === "instruction_id") return littleEndian(Number(value), program === system ? 4 : 1);
    if (typeof value === "number") return littleEndian(value, lengths[name] ?? assert.fail(name));
    if (typeof value === "string") return [...fromBase58(value)];
    if ("chars" in value) return [...littleEndian(value.length, 8), ...Buffer.from(value.chars)];
    return value.is_included ? [1, ...fromBase58(value.value)] : [0];
  });
  return Uint8Array.from(bytes);
}

function messageOf({
  version,
  header,
  accounts,
  blockhash,
  instructions,
  luts,
}: Case["parameters"]["construct"]): SolanaMessage {
  return {
    version: version ?? "legacy",
    requiredSignatures: header.signers,
    readonlySigned: header.readonly_signers,
    readonlyUnsigned: header.readonly_non_signers,
    accountKeys: accounts.map((account) => fromBase58(account)),
    recentBlockhash: fromBase58(blockhash),
    instructions: instructions.map(({ program_index, accounts: indexes, data }) => ({
      programIndex: program_index,
      accounts: Uint8Array.from(Object.values(indexes).flat()),
      data: dataOf(accounts[program_index] ?? "", data),
    })),
    addressTableLookups: luts.map(({ account, readwrite, readonly }) => ({
      tableKey: fromBase58(account),
      writableIndexes: Uint8Array.from(readwrite),
      readonlyIndexes: Uint8Array.from(readonly),
    })),
  };
}

test("trezor: from mnemonic and parts to bytes, facts and signature", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = { setup: { mnemonic: string; passphrase: string }; tests: Case[] };
  const counts = { exact: 0, transfers: 0, splTransfers: 0, lookups: 0 };
  for (const file of ["memo_program", "predefined_transactions", "system_program", "token_program"]) {
    const { setup, tests }: File = vectors.json(`trezor-fixtures/solana/sign_tx.${file}.json`);
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(setup.mnemonic, setup.passphrase));
    for (const { description, parameters, result } of tests) {
      const { privateKey, publicKeyRaw } = root.derive(parameters.address);
      const message = messageOf(parameters.construct);
      const slots = Array.from({ length: message.requiredSignatures }, () => new Uint8Array(64));
      const bytes = serialiseSolana({ signatures: slots, message });
      const transaction = parseSolana(bytes);
      assert.deepEqual(transaction, { signatures: slots, message }, description);
      const signature = ed25519.sign(solanaMessage(transaction), privateKey);
      assert.equal(toHex(signature), result.expected_signature, description);
      const signed = parseSolana(withSolanaSignature(transaction, publicKeyRaw, signature));
      assert.deepEqual(signed.signatures[0], signature);
      assert.deepEqual(signed.message, message);
      const facts = solanaFacts(transaction.message);
      counts.exact++;
      counts.transfers += facts.transfers.length;
      counts.splTransfers += facts.splTransfers.length;
      counts.lookups += facts.addressTableLookups.length;
    }
  }
  assert.deepEqual(counts, { exact: 37, transfers: 4, splTransfers: 5, lookups: 2 });
});

/** `solana.tx`, from the message that is signed. */
import type { SolanaMessage } from "../../chains/solana.ts";
import {
  type SolanaInstructionFacts,
  type SolanaTableFacts,
  type SolanaTransfer,
  type SplTransfer,
  solanaFacts,
} from "../../chains/solana_facts.ts";
import { toBase58 } from "../../encoding/base58.ts";
import { decodeInstruction, type Idl } from "../interfaces/idl.ts";
import type { Struct } from "../values/values.ts";
import { once } from "./once.ts";

/** The programs that a message calls. */
export function calledPrograms({ accountKeys, instructions }: SolanaMessage): readonly string[] {
  const indexes = new Set(instructions.map(({ programIndex }) => programIndex));
  return [...indexes].map((index) => toBase58(accountKeys[index] ?? new Uint8Array()));
}

/** The facts of a message; refuses one whose transfers cannot be read, since a policy would miss them. */
export function solanaStruct(message: SolanaMessage, findIdl: (programKey: string) => Idl | undefined): Struct {
  const { accountKeys, programKeys, instructions, transfers, splTransfers, addressTableLookups, recentBlockhash } =
    solanaFacts(message);
  const idls = new Map(programKeys.map((programKey) => [programKey, findIdl(programKey)]));
  return {
    account_keys: accountKeys,
    program_keys: programKeys,
    instructions: instructions.map((instruction, i) =>
      instructionStruct(instruction, message.instructions[i]?.data, idls.get(instruction.programKey)),
    ),
    transfers: transfers.map(transferStruct),
    spl_transfers: splTransfers.map(splTransferStruct),
    address_table_lookups: addressTableLookups.map(tableStruct),
    recent_blockhash: recentBlockhash,
  };
}

function instructionStruct(
  { programKey, accounts, instructionDataHex, addressTableLookups }: SolanaInstructionFacts,
  data: Uint8Array | undefined,
  idl: Idl | undefined,
): Struct {
  const parsed = once(() => {
    const keys = accounts.map(({ accountKey }) => accountKey);
    const decoded = idl && data && decodeInstruction(idl, data, keys);
    if (decoded === undefined) return undefined;
    const { name, discriminator, accounts: named, args } = decoded;
    return { instruction_name: name, discriminator, named_accounts: named, program_call_args: args };
  });
  return {
    program_key: programKey,
    accounts: accounts.map(({ accountKey, signer, writable }) => ({ account_key: accountKey, signer, writable })),
    instruction_data_hex: instructionDataHex,
    address_table_lookups: addressTableLookups.map(tableStruct),
    get parsed_instruction_data() {
      return parsed();
    },
  };
}

function tableStruct({ addressTableKey, writableIndexes, readonlyIndexes }: SolanaTableFacts): Struct {
  return {
    address_table_key: addressTableKey,
    writable_indexes: writableIndexes.map(BigInt),
    readonly_indexes: readonlyIndexes.map(BigInt),
  };
}

function transferStruct({ from, to, amount }: SolanaTransfer): Struct {
  return { from, to, amount };
}

function splTransferStruct({ from, to, amount, owner, signers, tokenMint }: SplTransfer): Struct {
  return { from, to, amount, owner, signers, token_mint: tokenMint };
}

/**
 * What policies see of a Solana transaction: accounts by name, and transfers that the instructions ask for directly.
 * Programs called by programs are not seen; that is the published meaning of these facts.
 */
import { toBase58 } from "../encoding/base58.ts";
import { toHex } from "../encoding/hex.ts";
import { toU32, toU64 } from "./little_endian.ts";
import type { SolanaInstruction, SolanaMessage } from "./solana.ts";
import { unparsable } from "./strict_parsing.ts";

/** Stands for an account that only the network can look up. */
export const addressTableLookup = "ADDRESS_TABLE_LOOKUP";

export type SolanaAccount = { accountKey: string; signer: boolean; writable: boolean };

export type SolanaTableFacts = {
  addressTableKey: string;
  writableIndexes: readonly number[];
  readonlyIndexes: readonly number[];
};

export type SolanaInstructionFacts = {
  programKey: string;
  accounts: readonly SolanaAccount[];
  instructionDataHex: string;
  /** The places in tables that this instruction uses. */
  addressTableLookups: readonly SolanaTableFacts[];
};

/** Lamports, by the System program. */
export type SolanaTransfer = { from: string; to: string; amount: bigint };

/** Tokens, by either Token program. `from` and `to` are token accounts. */
export type SplTransfer = {
  from: string;
  to: string;
  amount: bigint;
  owner: string;
  signers: readonly string[];
  /** Empty where the instruction does not name it. */
  tokenMint: string;
};

export type SolanaFacts = {
  accountKeys: readonly string[];
  programKeys: readonly string[];
  instructions: readonly SolanaInstructionFacts[];
  transfers: readonly SolanaTransfer[];
  splTransfers: readonly SplTransfer[];
  addressTableLookups: readonly SolanaTableFacts[];
  recentBlockhash: string;
};

/** An account of the message, and where it stands if in a table. */
type Account = SolanaAccount & { place: { table: number; index: number } | undefined };

/** The facts of a message. */
export function solanaFacts(message: SolanaMessage): SolanaFacts {
  const accounts = accountsOf(message);
  const instructions = message.instructions.map((instruction) => instructionFacts(message, accounts, instruction));
  const calls = message.instructions.map((instruction, i) =>
    callOf(instructions[i] as SolanaInstructionFacts, instruction),
  );
  return {
    accountKeys: accounts.map(({ accountKey }) => accountKey),
    programKeys: [...new Set(instructions.map(({ programKey }) => programKey))],
    instructions,
    transfers: calls.flatMap(transfersOf),
    splTransfers: calls.flatMap(splTransfersOf),
    addressTableLookups: message.addressTableLookups.map(({ tableKey, writableIndexes, readonlyIndexes }) => ({
      addressTableKey: toBase58(tableKey),
      writableIndexes: [...writableIndexes],
      readonlyIndexes: [...readonlyIndexes],
    })),
    recentBlockhash: toBase58(message.recentBlockhash),
  };
}

/** All accounts in the order that instructions count them: keys, then what tables let write, then the rest of tables. */
function accountsOf(message: SolanaMessage): readonly Account[] {
  const { accountKeys, requiredSignatures, readonlySigned, readonlyUnsigned } = message;
  const named = accountKeys.map((key, i) => {
    const signer = i < requiredSignatures;
    const writable = signer ? i < requiredSignatures - readonlySigned : i < accountKeys.length - readonlyUnsigned;
    return { accountKey: toBase58(key), signer, writable, place: undefined };
  });
  const lookedUp = (writable: boolean): Account[] =>
    message.addressTableLookups.flatMap((lookup, table) =>
      Array.from(writable ? lookup.writableIndexes : lookup.readonlyIndexes, (index) => ({
        accountKey: addressTableLookup,
        signer: false,
        writable,
        place: { table, index },
      })),
    );
  return [...named, ...lookedUp(true), ...lookedUp(false)];
}

function instructionFacts(
  { addressTableLookups }: SolanaMessage,
  all: readonly Account[],
  { programIndex, accounts: indexes, data }: SolanaInstruction,
): SolanaInstructionFacts {
  const accounts = Array.from(indexes, (index) => all[index] as Account);
  const used = addressTableLookups.map(({ tableKey }, table) => {
    const ofTable = accounts.filter(({ place }) => place?.table === table);
    const indexesOf = (writable: boolean) =>
      ofTable.flatMap((account) => (account.writable === writable && account.place ? [account.place.index] : []));
    return { addressTableKey: toBase58(tableKey), writableIndexes: indexesOf(true), readonlyIndexes: indexesOf(false) };
  });
  return {
    programKey: (all[programIndex] as Account).accountKey,
    accounts: accounts.map(({ accountKey, signer, writable }) => ({ accountKey, signer, writable })),
    instructionDataHex: toHex(data),
    addressTableLookups: used.filter((table) => table.writableIndexes.length + table.readonlyIndexes.length > 0),
  };
}

type Call = { programKey: string; accounts: readonly SolanaAccount[]; data: Uint8Array };

function callOf({ programKey, accounts }: SolanaInstructionFacts, { data }: SolanaInstruction): Call {
  return { programKey, accounts, data };
}

const systemProgram = "11111111111111111111111111111111";
const tokenPrograms = ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"];

/**
 * The programs ignore bytes behind their arguments, so neither do we ask for an end: a transfer with one byte more would
 * otherwise be a transfer that no policy sees.
 */
function transfersOf({ programKey, accounts, data }: Call): SolanaTransfer[] {
  if (programKey !== systemProgram || data.length < 4 || toU32(data, 0) !== 2) return [];
  return [{ from: nameOf(accounts, 0), to: nameOf(accounts, 1), amount: amountAt(data, 4) }];
}

/** The token transfers: the bytes they begin with, and whether the mint stands between source and destination. */
const tokenTransfers = [
  { head: [3], hasMint: false },
  { head: [12], hasMint: true },
  { head: [26, 1], hasMint: true },
] as const;

function splTransfersOf({ programKey, accounts, data }: Call): SplTransfer[] {
  const row = tokenTransfers.find(({ head }) => head.every((byte, i) => data[i] === byte));
  if (!tokenPrograms.includes(programKey) || row === undefined) return [];
  const after = row.hasMint ? 2 : 1;
  return [
    {
      from: nameOf(accounts, 0),
      to: nameOf(accounts, after),
      amount: amountAt(data, row.head.length),
      owner: nameOf(accounts, after + 1),
      signers: accounts.slice(after + 2).map(({ accountKey }) => accountKey),
      tokenMint: row.hasMint ? nameOf(accounts, 1) : "",
    },
  ];
}

function nameOf(accounts: readonly SolanaAccount[], index: number): string {
  const account = accounts[index];
  if (account === undefined) throw unparsable("a transfer without its accounts");
  return account.accountKey;
}

function amountAt(data: Uint8Array, at: number): bigint {
  if (data.length < at + 8) throw unparsable("a transfer without its amount");
  return toU64(data, at);
}

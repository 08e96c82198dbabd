/** Anchor IDLs: which instruction some data is of, what its accounts are called and what its arguments are. */
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../encoding/hex.ts";
import { finish, type Work } from "../../work.ts";
import type { PolicyMap } from "../values/values.ts";
import { decodeFields } from "./idl_decode.ts";
import { creatingTypeReader, type IdlType, readNamed, type TypeReader } from "./idl_types.ts";
import { addName, asList, asName, asObject, readInterfaceText, unusable } from "./interface_text.ts";

export type IdlInstruction = {
  name: string;
  /** The bytes that its data begins with, in hex. */
  discriminator: string;
  /** In the order in which a call lists them. */
  accounts: readonly string[];
  args: readonly { name: string; type: IdlType }[];
};

export type Idl = {
  instructions: ReadonlyMap<string, IdlInstruction>;
  /** How long its discriminators are, in bytes. */
  discriminatorLengths: readonly number[];
};

/** An instruction that was read whole. */
export type DecodedInstruction = {
  name: string;
  discriminator: string;
  accounts: PolicyMap;
  args: PolicyMap;
};

/** As much as fits into a transaction today. */
const maxDataLength = 1232;
const maxDiscriminatorLength = 32;
const maxInstructions = 500;
const ascii = new TextEncoder();

/**
 * Reads an object with `instructions`, and `types` if any are defined: Anchor leaves empty lists out. What else is in it
 * describes no calls.
 */
export function parseIdl(text: string): Idl {
  return finish(parsingIdl(text));
}

/** The same with pauses. */
export function* parsingIdl(text: string): Work<Idl> {
  const json = asObject(readInterfaceText(text), "the IDL");
  yield;
  const readType = yield* creatingTypeReader(asList(json.types ?? [], "`types`"));
  const instructions = new Map<string, IdlInstruction>();
  const names = new Set<string>();
  const items = asList(json.instructions, "`instructions`");
  if (items.length > maxInstructions) throw unusable(`more than ${maxInstructions} instructions`);
  for (const [i, item] of items.entries()) {
    const instruction = parseInstruction(readType, asObject(item, `instruction ${i}`), i);
    addName(names, instruction.name, "`instructions`");
    const other = instructions.get(instruction.discriminator);
    if (other !== undefined) throw ambiguous(instruction, other);
    instructions.set(instruction.discriminator, instruction);
    yield;
  }
  refusePrefixes(instructions);
  const lengths = new Set([...instructions.keys()].map((discriminator) => discriminator.length / 2));
  return { instructions, discriminatorLengths: [...lengths] };
}

function parseInstruction(
  readType: TypeReader,
  json: Readonly<Record<string, unknown>>,
  index: number,
): IdlInstruction {
  const name = asName(json.name, `the name of instruction ${index}`);
  const where = `the instruction \`${name}\``;
  return {
    name,
    discriminator: toHex(parseDiscriminator(json.discriminator, where) ?? discriminatorOf(name)),
    accounts: parseAccounts(asList(json.accounts, `the accounts of ${where}`), where),
    args: readNamed(readType, asList(json.args, `the args of ${where}`), where),
  };
}

function parseDiscriminator(json: unknown, where: string): Uint8Array | undefined {
  if (json === undefined || json === null) return undefined;
  const bytes = asList(json, `the discriminator of ${where}`);
  const isByte = (byte: unknown) => typeof byte === "number" && Number.isInteger(byte) && byte >= 0 && byte < 256;
  if (bytes.length === 0 || bytes.length > maxDiscriminatorLength || !bytes.every(isByte)) {
    throw unusable(`the discriminator of ${where} is not a list of 1 to ${maxDiscriminatorLength} bytes`);
  }
  return Uint8Array.from(bytes as number[]);
}

/** What Anchor gives an instruction that says none: of the function's name as its source spells it. */
export function discriminatorOf(name: string): Uint8Array {
  const snakeCase = name.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase();
  return sha256(ascii.encode(`global:${snakeCase}`)).subarray(0, 8);
}

/** Accounts in groups are called by both names. The flags are the program's business, but must be flags. */
function parseAccounts(accounts: readonly unknown[], where: string, group = ""): readonly string[] {
  const names = new Set<string>();
  return accounts.flatMap((item, i) => {
    const account = asObject(item, `account ${i} of ${where}`);
    const name = asName(account.name, `the name of account ${i} of ${where}`);
    addName(names, name, `the accounts of ${where}`);
    if (account.accounts !== undefined) {
      return parseAccounts(asList(account.accounts, `the group \`${name}\` of ${where}`), where, `${group}${name}.`);
    }
    checkFlag(account.signer, account.isSigner, `\`${name}\` of ${where}`);
    checkFlag(account.writable, account.isMut, `\`${name}\` of ${where}`);
    return [`${group}${name}`];
  });
}

/** One flag under its newer and its older name. */
function checkFlag(newer: unknown, older: unknown, where: string): void {
  const given = [newer, older].filter((flag) => flag !== undefined);
  if (!given.every((flag) => typeof flag === "boolean")) throw unusable(`${where} has a flag that is no boolean`);
  if (given.length === 2 && newer !== older) throw unusable(`${where} has a flag twice with different values`);
}

/** Data that begins with one discriminator must not begin with another. */
function refusePrefixes(instructions: ReadonlyMap<string, IdlInstruction>): void {
  const sorted = [...instructions.values()].sort((a, b) => (a.discriminator < b.discriminator ? -1 : 1));
  for (const [i, instruction] of sorted.entries()) {
    const next = sorted[i + 1];
    if (next?.discriminator.startsWith(instruction.discriminator)) throw ambiguous(instruction, next);
  }
}

function ambiguous(a: IdlInstruction, b: IdlInstruction): Error {
  return unusable(`\`${a.name}\` and \`${b.name}\` cannot be told apart by their discriminators`);
}

/**
 * The instruction that this data is of, with its arguments and with names for the accounts. Undefined if it is none of
 * these, if bytes are left over, or if it has fewer accounts than it should.
 */
export function decodeInstruction(
  { instructions, discriminatorLengths }: Idl,
  data: Uint8Array,
  accountKeys: readonly string[],
): DecodedInstruction | undefined {
  if (data.length > maxDataLength) return undefined;
  for (const length of discriminatorLengths) {
    const instruction = length <= data.length ? instructions.get(toHex(data.subarray(0, length))) : undefined;
    if (instruction === undefined) continue;
    if (accountKeys.length < instruction.accounts.length) return undefined;
    const args = decodeFields(instruction.args, data.subarray(length));
    if (args === undefined) return undefined;
    const accounts = new Map(instruction.accounts.map((name, i) => [name, accountKeys[i] ?? ""]));
    return { name: instruction.name, discriminator: instruction.discriminator, accounts, args };
  }
  return undefined;
}

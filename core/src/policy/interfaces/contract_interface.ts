/** What an organization says about a contract or program: which calls it has, so that policies can name them. */
import { type Abi, parseAbi } from "./abi.ts";
import { type Idl, parseIdl } from "./idl.ts";

export type InterfaceType = "ETHEREUM" | "SOLANA";

export type ParsedInterface = { type: "ETHEREUM"; abi: Abi } | { type: "SOLANA"; idl: Idl };

const parsers: Record<InterfaceType, (text: string) => ParsedInterface> = {
  ETHEREUM: (text) => ({ type: "ETHEREUM", abi: parseAbi(text) }),
  SOLANA: (text) => ({ type: "SOLANA", idl: parseIdl(text) }),
};

/** How many functions or instructions it has, which is most of what it takes in memory. */
export function functionCount(one: ParsedInterface): number {
  return one.type === "ETHEREUM" ? one.abi.functions.size : one.idl.instructions.size;
}

/** Reads the JSON text of an interface, or refuses it and says why. The same text always gives the same interface. */
export function parseInterface(type: InterfaceType, text: string): ParsedInterface {
  return parsers[type](text);
}

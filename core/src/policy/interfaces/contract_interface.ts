/** What an organization says about a contract or program: which calls it has, so that policies can name them. */
import { finish, type Work } from "../../work.ts";
import { type Abi, parsingAbi } from "./abi.ts";
import { type Idl, parsingIdl } from "./idl.ts";

export type InterfaceType = "ETHEREUM" | "SOLANA";

export type ParsedInterface = { type: "ETHEREUM"; abi: Abi } | { type: "SOLANA"; idl: Idl };

const parsers: Record<InterfaceType, (text: string) => Work<ParsedInterface>> = {
  *ETHEREUM(text) {
    return { type: "ETHEREUM", abi: yield* parsingAbi(text) };
  },
  *SOLANA(text) {
    return { type: "SOLANA", idl: yield* parsingIdl(text) };
  },
};

/** How many functions or instructions it has, which is most of what it takes in memory. */
export function functionCount(one: ParsedInterface): number {
  return one.type === "ETHEREUM" ? one.abi.functions.size : one.idl.instructions.size;
}

/** Reads the JSON text of an interface, or refuses it and says why. The same text always gives the same interface. */
export function parseInterface(type: InterfaceType, text: string): ParsedInterface {
  return finish(parsingInterface(type, text));
}

/** The same with pauses: the longest takes a tenth of a second. */
export function parsingInterface(type: InterfaceType, text: string): Work<ParsedInterface> {
  return parsers[type](text);
}

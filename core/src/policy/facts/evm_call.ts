/** What policies see of one EVM call, whichever transaction carries it. */
import { toHex } from "../../encoding/hex.ts";
import { type Abi, callsFunction, decodeCall } from "../interfaces/abi.ts";
import { EvmText, type PolicyMap } from "../values/values.ts";

/** Without `to` it creates a contract, and `data` is that contract's code and no call. */
export type EvmCall = { to: Uint8Array | undefined; data: Uint8Array };

const nothing = new EvmText("");

export function toEvmText(bytes: Uint8Array | undefined): EvmText {
  return bytes === undefined ? nothing : new EvmText(`0x${toHex(bytes)}`, true);
}

/** The selector, with or without an interface; empty where no function is called. */
export function functionSignature({ to, data }: EvmCall): EvmText {
  return to === undefined || data.length < 4 ? nothing : toEvmText(data.subarray(0, 4));
}

/** The contract whose interface says what the call means. */
export function calledContract({ to, data }: EvmCall): string | undefined {
  return to === undefined || data.length < 4 ? undefined : `0x${toHex(to)}`;
}

/** Without an interface that has the function, the name is empty and there are no arguments. */
export type DecodedFunction = { name: string | undefined; args: PolicyMap | undefined };

const unknown: DecodedFunction = { name: "", args: undefined };

/**
 * A function of the interface, called in another way than compilers encode it. The contract would run it all the same, so an empty
 * name would be the way past whoever denies it by its name: one byte more is enough.
 */
const unreadable: DecodedFunction = { name: undefined, args: undefined };

/** The function that is called and its arguments, as the contract's interface reads them. */
export function decodeFunction({ to, data }: EvmCall, abi: Abi | undefined): DecodedFunction {
  if (to === undefined || abi === undefined) return unknown;
  return decodeCall(abi, data) ?? (callsFunction(abi, data) ? unreadable : unknown);
}

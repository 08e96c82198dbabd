/**
 * `eth.tx` of activities that say what to send and leave the transaction to us: one per call, as each is a transaction to
 * whoever receives it. What was not said (a nonce, fees) has no value. Whoever sponsors a call pays for it, so its fees are 0.
 */
import { readHex, readInteger } from "../../crypto/eip712.ts";
import { fromHexAt } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import type { Abi } from "../interfaces/abi.ts";
import type { EvmText, Struct } from "../values/values.ts";
import { decodeFunction, type EvmCall, functionSignature, toEvmText } from "./evm_call.ts";
import { once } from "./once.ts";

export type SentCall = EvmCall & { value: bigint };

export type Sending = {
  chainId: bigint;
  sponsor: boolean;
  nonce: bigint | undefined;
  gas: bigint | undefined;
  maxFeePerGas: bigint | undefined;
  maxPriorityFeePerGas: bigint | undefined;
  calls: readonly SentCall[];
};

type Params = Readonly<Record<string, unknown>>;

function malformed(what: string): Fault {
  return new Fault("invalid_argument", `invalid request body: \`${what}\` is missing or misshapen`);
}

/** Reads the parameters of eth_send_transaction; its first version says the one call beside the rest. */
export function readSending(params: Params): Sending {
  const [, digits] = /^eip155:(0|[1-9][0-9]{0,19})$/.exec(String(params.caip2)) ?? [];
  if (digits === undefined) throw malformed("caip2");
  const { calls = [params] } = params;
  if (!Array.isArray(calls) || calls.length === 0) throw malformed("calls");
  return {
    chainId: BigInt(digits),
    sponsor: params.sponsor === true,
    nonce: readOptional(params, "nonce"),
    gas: readOptional(params, "gasLimit"),
    maxFeePerGas: readOptional(params, "maxFeePerGas"),
    maxPriorityFeePerGas: readOptional(params, "maxPriorityFeePerGas"),
    calls: calls.map(readCall),
  };
}

function readCall(json: unknown): SentCall {
  if (typeof json !== "object" || json === null) throw malformed("calls");
  const call = json as Params;
  const to = readHex(call.to, 20);
  if (to === undefined) throw malformed("to");
  // Clients write the empty call both ways.
  const data = readHex(call.data === "" ? "0x" : (call.data ?? "0x"), undefined);
  if (data === undefined) throw malformed("data");
  return { to: fromHexAt(to, 2), data: fromHexAt(data, 2), value: readOptional(call, "value") ?? 0n };
}

function readOptional(params: Params, name: string): bigint | undefined {
  const given = params[name];
  if (given === undefined || given === null || given === "") return undefined;
  const number = readInteger(given);
  if (number === undefined || number < 0n || number >= 2n ** 256n) throw malformed(name);
  return number;
}

/** The facts of one call. */
export function sentCallStruct(
  { chainId, sponsor, nonce, calls, ...fees }: Sending,
  sent: SentCall,
  from: () => EvmText | undefined,
  abi: Abi | undefined,
): Struct {
  const paid = (fee: bigint | undefined) => (sponsor ? 0n : fee);
  const call = once(() => decodeFunction(sent, abi));
  return {
    // Several calls, and calls that somebody else pays for, are carried out by a contract.
    type: sponsor || calls.length > 1 ? undefined : "TYPE_2",
    get from() {
      return from();
    },
    to: toEvmText(sent.to),
    data: toEvmText(sent.data),
    value: sent.value,
    gas: paid(fees.gas),
    gas_price: paid(fees.maxFeePerGas),
    max_fee_per_gas: paid(fees.maxFeePerGas),
    max_priority_fee_per_gas: paid(fees.maxPriorityFeePerGas),
    max_fee_per_blob_gas: 0n,
    chain_id: chainId,
    nonce,
    function_signature: functionSignature(sent),
    get function_name() {
      return call().name;
    },
    get contract_call_args() {
      return call().args;
    },
  };
}

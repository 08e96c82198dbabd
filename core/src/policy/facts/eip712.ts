/** `eth.eip_712`, from the typed data that the digest is computed of. */
import type { TypedData, TypedStruct, TypedValue } from "../../crypto/eip712.ts";
import { EvmText, type PolicyMap, type Struct, type Value } from "../values/values.ts";
import { once } from "./once.ts";

/** What policies call the domain's fields, with the types that the standard gives them. */
const domainFields = [
  { fact: "name", name: "name", type: "string" },
  { fact: "version", name: "version", type: "string" },
  { fact: "chain_id", name: "chainId", type: "uint256" },
  { fact: "verifying_contract", name: "verifyingContract", type: "address" },
] as const;

/** The facts of typed data. Names and types are exact; what the message says is read without its case. */
export function typedDataStruct(typedData: TypedData): Struct {
  const message = once(() => toMap(typedData.message));
  return {
    primary_type: typedData.primaryType,
    domain: domainStruct(typedData),
    get message() {
      return message();
    },
  };
}

/**
 * A field that the domain does not have, or has as another type than the standard's, has no value: a chain id that is
 * declared as text is not the chain id that contracts compare.
 */
function domainStruct({ types, domain }: TypedData): Struct {
  const declared = types.get("EIP712Domain") ?? [];
  const values = domainFields.flatMap(({ fact, name, type }) => {
    const value = domain.get(name);
    const isStandard = declared.some((field) => field.name === name && field.type === type);
    if (value === undefined || !isStandard) return [];
    return [[fact, type === "address" ? new EvmText(String(value)) : (value as Value)] as const];
  });
  return Object.fromEntries(values);
}

function toMap(struct: TypedStruct): PolicyMap {
  return new Map(Array.from(struct, ([name, value]) => [name, toValue(value)]));
}

function toValue(value: TypedValue): Value {
  if (typeof value === "string") return toText(value);
  if (typeof value === "bigint" || typeof value === "boolean") return value;
  return value instanceof Map ? toMap(value) : (value as readonly TypedValue[]).map(toValue);
}

/**
 * Published policies rely on values being the same in either case, for addresses and for text. Only ASCII has two cases
 * that everybody agrees on: the lower case of the Kelvin sign is `k`, and a policy must not take one for the other.
 */
function toText(text: string): EvmText | string {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return text;
  return new EvmText(text);
}

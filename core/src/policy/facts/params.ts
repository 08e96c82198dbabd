/** `activity.params`: parameters of the wire under the names and in the types that the vocabulary gives them. */
import { Fault } from "../../fault.ts";
import { EvmText, type Struct, type Value } from "../values/values.ts";
import { wireNames } from "../vocabulary/activity_params.ts";
import type { PolicyType } from "../vocabulary/types.ts";

type Json = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, PolicyType>>;

/** Parameters that have a meaning when they are left out. All others have no value then. */
const whenLeftOut: Readonly<Record<string, Value>> = { session_profile_id: "" };

/** Shows the parameters of a kind of activity. Its names are translated once, not for each activity. */
export function compileParams(fields: Fields): (params: Json) => Struct {
  const rows = Object.entries(fields).map(([name, type]) => ({
    name,
    type,
    wireName: wireNames[name] ?? toCamelCase(name),
  }));
  return (params) => {
    const shown: Record<string, Value | undefined> = {};
    for (const { name, type, wireName } of rows) {
      shown[name] = readValue(type, params[wireName]) ?? whenLeftOut[name];
    }
    return shown;
  };
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Undefined for what was not sent, or is not what the vocabulary says: policies that use it err. */
function readValue(type: PolicyType, json: unknown): Value | undefined {
  if (json === undefined || json === null) return undefined;
  if (type.kind === "string") return typeof json === "string" ? toText(json) : undefined;
  if (type.kind === "bool") return typeof json === "boolean" ? json : undefined;
  if (type.kind === "int") return readInteger(json);
  if (type.kind === "list") return readList(type.of, json);
  if (type.kind === "struct") return readStruct(type.fields, json);
  return undefined;
}

/** An EVM address is the same in either case, wherever it stands. */
function toText(text: string): EvmText | string {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? new EvmText(text) : text;
}

/** A number, or digits, which is how amounts travel. */
function readInteger(json: unknown): bigint | undefined {
  if (typeof json === "number") return Number.isSafeInteger(json) ? BigInt(json) : undefined;
  return typeof json === "string" && /^(?:0|[1-9][0-9]{0,77})$/.test(json) ? BigInt(json) : undefined;
}

function readList(of: PolicyType, json: unknown): readonly Value[] | undefined {
  if (!Array.isArray(json)) return undefined;
  const items = json.map((item: unknown) => readValue(of, item));
  return items.every((item) => item !== undefined) ? items : undefined;
}

/** Inside a struct, what was left out is empty: published policies compare with that. */
function readStruct(fields: Fields, json: unknown): Struct | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const own = json as Json;
  const isDerivation = Object.hasOwn(fields, "signing_leaf") && Object.hasOwn(fields, "static_deposit");
  return Object.fromEntries(
    Object.entries(fields).map(([name, type]) => {
      if (isDerivation && name === "type") return [name, derivationType(own)];
      const value = own[toCamelCase(name)];
      return [name, value === undefined || value === null ? emptyOf(type) : readValue(type, value)];
    }),
  );
}

/** Spark's derivations are told apart by the one key that they have. */
const derivationTypes = ["identity", "signing_leaf", "deposit", "static_deposit", "htlc_preimage"] as const;

function derivationType(json: Json): string {
  const sent = derivationTypes.filter((type) => (json[toCamelCase(type)] ?? undefined) !== undefined);
  if (sent.length > 1) throw new Fault("invalid_argument", "invalid request body: a derivation of two kinds");
  return sent[0] ?? "";
}

function emptyOf(type: PolicyType): Value | undefined {
  if (type.kind === "string") return "";
  if (type.kind === "int") return 0n;
  if (type.kind === "bool") return false;
  if (type.kind === "list") return [];
  return type.kind === "struct" ? readStruct(type.fields, {}) : undefined;
}

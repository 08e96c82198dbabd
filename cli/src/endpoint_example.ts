/** A body with every field that must be there. Its values say what belongs there, where nothing fits everybody. */
import type { Field, Type } from "./endpoint_types.ts";

/** Values that work as they are. */
const samples: Readonly<Record<string, unknown>> = {
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction: "HASH_FUNCTION_KECCAK256",
  payload: "hello",
  payloads: ["hello"],
  rootQuorumThreshold: 1,
  authenticators: [],
  oauthProviders: [],
  userTags: [],
  consensus: "approvers.count() >= 2",
};

/**
 * May be left out, and should not be: a policy without `consensus` would allow every user every activity, and a root user
 * without a credential is refused.
 */
const advisable: ReadonlySet<string> = new Set(["consensus", "apiKeys"]);

export function exampleOf(fields: readonly Field[]): Record<string, unknown> {
  const shown = fields.filter(({ name, isOptional }) => !isOptional || advisable.has(name));
  return Object.fromEntries(shown.map(({ name, type }) => [name, samples[name] ?? fillerFor(name, type)]));
}

function fillerFor(name: string, type: Type): unknown {
  if (type.kind === "object") return exampleOf(type.fields);
  if (type.kind === "list") return [fillerFor(name.replace(/s$/, ""), type.of)];
  if (type.kind === "words") return type.words[0];
  if (type.kind === "number") return 1;
  if (type.kind === "flag") return true;
  return type.kind === "any" ? {} : upperCase(name);
}

/** `walletId` as `WALLET_ID`: a place to fill in. */
function upperCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

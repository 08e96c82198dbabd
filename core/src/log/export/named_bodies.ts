/** Which bytes a leaf names by their SHA-256: what may stand beside it in an export, and in which order. Rules: SPEC.md in this folder. */
import { toHex } from "../../encoding/hex.ts";
import { sha256 } from "../../tlog/hash.ts";
import type { Leaf } from "../leaf.ts";

/** What the bytes are to the leaf. */
export type BodyRole = "stamped body" | "token" | "order" | "value from outside" | "outcome";

export type NamedBody = { role: BodyRole; digest: Uint8Array; name: string };

const nothing = toHex(sha256(new Uint8Array()));
const zeros = "00".repeat(32);

/**
 * Each is named once, under the first role that it has. The fingerprint is named by the leaf of whoever stamped it; a later vote names it
 * too, but shows its own body.
 */
export function namedBodies(leaf: Leaf): NamedBody[] {
  const named = new Map<string, NamedBody>();
  const add = (role: BodyRole, digest: Uint8Array): void => {
    const name = toHex(digest);
    if (name !== nothing && name !== zeros && !named.has(name)) named.set(name, { role, digest, name });
  };
  for (const { body, content } of leaf.evidence) {
    add("stamped body", body);
    if ("tokenDigest" in content.value) add("token", content.value.tokenDigest);
  }
  if (leaf.evidence.length === 0) add("order", leaf.fingerprint);
  for (const { kind, value } of leaf.outside) {
    // A page of import targets has sealed keys in it: it is nobody's to show.
    if (value.kind === "digest" && kind !== "importTarget") add("value from outside", value.value);
  }
  // What an acceptance counts are the states of all organizations, which are nobody's to show.
  if (leaf.event !== "DATABASE_ACCEPTED") add("outcome", leaf.outcome);
  return [...named.values()];
}

/** Of the bytes that somebody shows with a leaf, those that it names, in their order. */
export function pickBodies(
  leaf: Leaf,
  shown: readonly Uint8Array[],
  hash: (bytes: Uint8Array) => Uint8Array = sha256,
): Uint8Array[] {
  const byName = new Map(shown.map((bytes) => [toHex(hash(bytes)), bytes]));
  return namedBodies(leaf).flatMap(({ name }) => byName.get(name) ?? []);
}

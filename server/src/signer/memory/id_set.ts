/** A set of ids of 16 bytes, in the order they were added. It keeps copies: what it is given may be a view into a whole file. */
import { digestKey } from "../../state/digest.ts";

export type IdSet = {
  add(id: Uint8Array): void;
  has(id: Uint8Array): boolean;
  values(): Iterable<Uint8Array>;
};

export function createIdSet(): IdSet {
  const ids = new Map<string, Uint8Array>();
  return {
    add: (id) => ids.set(digestKey(id), Uint8Array.from(id)),
    has: (id) => ids.has(digestKey(id)),
    values: () => ids.values(),
  };
}

/** How many leaves of each organization the log has. A million organizations are 34 MB here. */
import { createIdTable } from "./id_table.ts";

export type OrdinalOf = { organizationId: Uint8Array; ordinal: number };

export type Ordinals = {
  /** The ordinal of its newest leaf; 0 for none. */
  last(organizationId: Uint8Array): number;
  set(organizationId: Uint8Array, ordinal: number): void;
  entries(): Generator<OrdinalOf>;
};

const nothing = new Uint8Array(0);

export function createOrdinals(): Ordinals {
  const table = createIdTable(nothing.length);
  return {
    last: (organizationId) => table.numberOf(organizationId),
    set: (organizationId, ordinal) => table.set(organizationId, ordinal, nothing),
    *entries() {
      for (const { id, number } of table.entries()) yield { organizationId: id, ordinal: number };
    },
  };
}

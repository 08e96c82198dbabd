/**
 * Results that nobody may see before their row is released. They leave sealed, for whoever stores them; those of this moment are kept
 * open beside that, because nearly all are released a few milliseconds later and need not be opened then. What was not kept, or
 * comes back changed, is opened as it is.
 */
import { equalBytes } from "../state/digest.ts";
import { createLru } from "../state/lru.ts";
import { resultContext } from "./reseal.ts";
import type { Sealer } from "./seal.ts";

export type Results = {
  seal(leaf: Uint8Array, result: string): Uint8Array;
  /** Opens only beside the leaf it was sealed with. */
  open(leaf: Uint8Array, sealed: Uint8Array): string;
};

/** More than is ever on its way at once; what nobody releases must not pile up. Released ones are not taken out singly (lru.ts says why). */
const maxKeptBytes = 4 * 1024 * 1024;

export function createResults(sealer: Sealer): Results {
  const kept = createLru<{ sealed: Uint8Array; result: string }>(maxKeptBytes);
  return {
    seal(leaf, result) {
      const context = resultContext(leaf);
      const sealed = sealer.seal(context, new TextEncoder().encode(result));
      kept.set(context.recordId, { sealed, result }, sealed.length + result.length);
      return sealed;
    },
    open(leaf, sealed) {
      const context = resultContext(leaf);
      const own = kept.get(context.recordId);
      if (own !== undefined && equalBytes(own.sealed, sealed)) return own.result;
      return new TextDecoder().decode(sealer.unseal(context, sealed));
    },
  };
}

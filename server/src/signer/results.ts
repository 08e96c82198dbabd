/**
 * Results that nobody may see before their row is released. They leave sealed, for whoever stores them; those of this moment are kept
 * open beside that, because nearly all are released a few milliseconds later and need not be opened then. What was not kept, or
 * comes back changed, is opened as it is.
 */
import { equalBytes } from "../state/digest.ts";
import { resultContext } from "./reseal.ts";
import type { Sealer } from "./seal.ts";

export type Results = {
  seal(leaf: Uint8Array, result: string): Uint8Array;
  /** Opens only beside the leaf it was sealed with. */
  open(leaf: Uint8Array, sealed: Uint8Array): string;
};

/** More than are ever on their way at once. Those that nobody releases must not pile up. */
const maxKept = 1_000;

export function createResults(sealer: Sealer): Results {
  const kept = new Map<string, { sealed: Uint8Array; result: string }>();
  return {
    seal(leaf, result) {
      const context = resultContext(leaf);
      const sealed = sealer.seal(context, new TextEncoder().encode(result));
      if (kept.size >= maxKept) kept.clear();
      kept.set(context.recordId, { sealed, result });
      return sealed;
    },
    open(leaf, sealed) {
      const context = resultContext(leaf);
      const own = kept.get(context.recordId);
      kept.delete(context.recordId);
      if (own !== undefined && equalBytes(own.sealed, sealed)) return own.result;
      return new TextDecoder().decode(sealer.unseal(context, sealed));
    },
  };
}

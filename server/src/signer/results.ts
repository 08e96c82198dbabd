/** Results that nobody may see before their row is released. They leave sealed, for whoever stores them. */
import { resultContext } from "./reseal.ts";
import type { Sealer } from "./seal.ts";

export function sealResult(sealer: Sealer, leaf: Uint8Array, result: string): Uint8Array {
  return sealer.seal(resultContext(leaf), new TextEncoder().encode(result));
}

/** Opens only beside the leaf it was sealed with. */
export function openResult(sealer: Sealer, leaf: Uint8Array, sealed: Uint8Array): string {
  return new TextDecoder().decode(sealer.unseal(resultContext(leaf), sealed));
}

/** Results that nobody may see before their row is released. They leave sealed, for whoever stores them. */
import { sha256 } from "../../state/digest.ts";
import type { SealContext, Sealer } from "../secrets/seal.ts";

/** A result opens only beside the very leaf it was prepared with. */
export function resultContext(leaf: Uint8Array): SealContext {
  return { purpose: "leaves.sealed", organizationId: "", recordId: Buffer.from(sha256(leaf)).toString("hex") };
}

export function sealResult(sealer: Sealer, leaf: Uint8Array, result: string): Uint8Array {
  return sealer.seal(resultContext(leaf), new TextEncoder().encode(result));
}

/** Opens only beside the leaf it was sealed with. */
export function openResult(sealer: Sealer, leaf: Uint8Array, sealed: Uint8Array): string {
  return new TextDecoder().decode(sealer.unseal(resultContext(leaf), sealed));
}

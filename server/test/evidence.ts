import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";

/** A stamp by an API key, as requests and frames carry it. */
export function stampEvidence(stamp: string): SentEvidence<"apiKey"> {
  return { kind: "apiKey", value: stamp };
}

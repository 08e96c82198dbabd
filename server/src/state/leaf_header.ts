/** Which states of its own organization a leaf speaks of. */

import { decodeHeader } from "@keystead/core/log/header.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import type { NamedState } from "@keystead/core/log/leaf_format_2.ts";
import { withoutMac } from "./authenticity.ts";
import { equalBytes } from "./digest.ts";

/**
 * The marked header of the state that a leaf led its own organization to. The leaf of an act that leaves its organization as it is
 * and brings another into the world names that one's first state instead, which is nothing of its own line.
 */
export function ownHeaderOf({
  header,
  organizationId,
}: Pick<Leaf, "header" | "organizationId">): Uint8Array | undefined {
  if (header === undefined) return undefined;
  return equalBytes(decodeHeader(withoutMac(header)).organizationId, organizationId) ? header : undefined;
}

/** The state of its own organization that was looked at. A birth has none: it was decided on its parent's, or by the operator. */
export function ownStateOf({
  states,
  organizationId,
}: Pick<Leaf, "states" | "organizationId">): NamedState | undefined {
  return states.find((state) => equalBytes(state.organizationId, organizationId));
}

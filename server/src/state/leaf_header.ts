/** Which state a leaf led to, as its header says. */

import { decodeHeader } from "@keystead/core/log/header.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
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

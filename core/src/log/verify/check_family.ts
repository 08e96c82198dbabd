/**
 * Whether all sub-organizations are here that the organizations of an export have made. A birth is numbered among its child's leaves, which a
 * server can leave out together with the child; but the act that made it is its parent's, and names it.
 */
import { fromHex } from "../../encoding/hex.ts";
import { uuidFromBytes } from "../../encoding/uuid.ts";
import type { Finding } from "./finding.ts";
import type { PlacedFacts } from "./walk_leaves.ts";

/** `organizationIds`: those whose leaves are here, as hex. One that was deleted shows nothing any more, so none can be called withheld. */
export function checkFamily(leaves: readonly PlacedFacts[], organizationIds: readonly string[]): Finding[] {
  const known = new Set(organizationIds);
  return leaves.flatMap(({ facts: { made }, place }): Finding[] => {
    if (made === undefined || known.has(made)) return [];
    // Once, also of a leaf that stands in several logs.
    known.add(made);
    const what = `it made sub-organization ${uuidFromBytes(fromHex(made))}, which is not here: deleted, or left out`;
    return [{ kind: "unchecked", place, what }];
  });
}

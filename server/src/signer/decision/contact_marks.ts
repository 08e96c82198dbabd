/** Contacts that an act has verified in a sub-organization: the gateway claims each below the parent, where a contact leads to one user. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Prepared } from "../../frames/messages.ts";
import { newMarks } from "../../state/contacts.ts";
import type { Change, User } from "../../state/entities.ts";

export function marksOf(
  parentId: Uint8Array,
  before: ReadonlyMap<string, User>,
  changes: readonly Change[],
): Prepared["marks"] {
  return newMarks(before, changes).map((mark) => ({ parentId: uuidFromBytes(parentId), ...mark }));
}

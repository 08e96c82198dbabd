import { Fault } from "@keystead/core/fault.ts";
import { foldName } from "../fields/names.ts";
import { createAside } from "../state/aside.ts";
import type { UserTag } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";

const folded = createAside<UserTag, string>();

/** Tags are immutable and pass from page to page, so each name is folded once, however many come after it. */
function foldTagName(tag: UserTag): string {
  const known = folded.get(tag);
  if (known !== undefined) return known;
  const name = foldName(tag.tagName);
  folded.set(tag, name);
  return name;
}

/** Policies name tags by id; two of one name could only mislead people. */
export function refuseTakenTagName({ userTags }: MembersPage, tagName: string, except?: string): void {
  const wanted = foldName(tagName);
  for (const tag of userTags.values()) {
    if (tag.tagId !== except && foldTagName(tag) === wanted) {
      throw new Fault("invalid_argument", `user tag label must be unique: \`${tag.tagName}\` exists`);
    }
  }
}

import { Fault } from "@keystead/core/fault.ts";
import { foldName } from "../fields/names.ts";
import type { MembersPage } from "../state/pages.ts";

/** Policies name tags by id; two of one name could only mislead people. */
export function refuseTakenTagName({ userTags }: MembersPage, tagName: string, except?: string): void {
  const wanted = foldName(tagName);
  for (const tag of userTags.values()) {
    if (tag.tagId !== except && foldName(tag.tagName) === wanted) {
      throw new Fault("invalid_argument", `user tag label must be unique: \`${tag.tagName}\` exists`);
    }
  }
}

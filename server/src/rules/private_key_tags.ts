/** Tags of private keys. All that is known about them stands in one page: see docs/decisions/0014. */
import { Fault } from "@keystead/core/fault.ts";
import { foldName } from "../fields/names.ts";
import { type Change, type PrivateKeyTag, put } from "../state/entities.ts";
import type { PrivateKeyTagsPage } from "../state/pages.ts";
import { toPlaces } from "../state/tag_places.ts";

/** A key and the tags it carries. */
export type TaggedKey = readonly [privateKeyId: string, tagIds: readonly string[]];

/** What policies see as `private_key.tags`. */
export function tagsOf({ keys }: PrivateKeyTagsPage, privateKeyId: string): readonly string[] {
  return keys.get(privateKeyId) ?? [];
}

export function getPrivateKeyTag({ tags }: PrivateKeyTagsPage, organizationId: string, tagId: string): PrivateKeyTag {
  const tag = tags.get(tagId);
  if (tag === undefined) {
    throw new Fault("not_found", `unable to find private key tag ${tagId} in organization ${organizationId}`);
  }
  return tag;
}

/** Policies name tags by id; two of one name could only mislead people. */
export function refuseTakenPrivateKeyTagName({ tags }: PrivateKeyTagsPage, tagName: string, except?: string): void {
  const wanted = foldName(tagName);
  for (const tag of tags.values()) {
    if (tag.tagId !== except && foldName(tag.tagName) === wanted) {
      throw new Fault("invalid_argument", `private key tag label must be unique: \`${tag.tagName}\` exists`);
    }
  }
}

/** The change that gives keys these tags in place of theirs; none when there are no such keys. */
export function putTags(keys: readonly TaggedKey[], nowMs: number): Change[] {
  if (keys.length === 0) return [];
  const tagIds = [...new Set(keys.flatMap(([, own]) => own))];
  return [put("taggedPrivateKeys", { tagIds, keys: toPlaces(tagIds, keys), updatedAtMs: nowMs })];
}

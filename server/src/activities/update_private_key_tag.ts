import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import {
  getPrivateKeyTag,
  putTags,
  refuseTakenPrivateKeyTagName,
  type TaggedKey,
  tagsOf,
} from "../rules/private_key_tags.ts";
import { getPrivateKey } from "../rules/private_keys.ts";
import { put } from "../state/entities.ts";

/** Renames a tag, gives it to private keys and takes it from others. */
export const updatePrivateKeyTag = defineActivity({
  path: "update_private_key_tag",
  type: "ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG",
  intentKey: "updatePrivateKeyTagIntent",
  resultKey: "updatePrivateKeyTagResult",
  summary: "Rename a private key tag, or change which keys carry it",
  params: Type.Object({
    privateKeyTagId: id,
    newPrivateKeyTagName: optional(name("Human-readable name of the tag.")),
    addPrivateKeyIds: ids,
    removePrivateKeyIds: ids,
  }),
  result: Type.Object({ privateKeyTagId: id }),
  cost: (params) => (params.addPrivateKeyIds.length + params.removePrivateKeyIds.length) * unitCosts.oldRecord,
  state: ({ privateKeyTags }) => privateKeyTags,
  records: ({ addPrivateKeyIds, removePrivateKeyIds }) =>
    [...new Set([...addPrivateKeyIds, ...removePrivateKeyIds])].map((privateKeyId) => ({
      by: "id",
      kind: "privateKey",
      id: privateKeyId,
    })),
  run(page, { privateKeyTagId, newPrivateKeyTagName, addPrivateKeyIds, removePrivateKeyIds }, context) {
    const { organizationId, nowMs, keys } = context;
    const tag = getPrivateKeyTag(page, organizationId, privateKeyTagId);
    if (newPrivateKeyTagName != null) refuseTakenPrivateKeyTagName(page, newPrivateKeyTagName, privateKeyTagId);
    const added = new Set(addPrivateKeyIds);
    const removed = new Set(removePrivateKeyIds);
    const named = [...added.union(removed)];
    for (const privateKeyId of named) getPrivateKey(keys, organizationId, privateKeyId);
    // What is named in both lists ends up without the tag: a tag may carry authority.
    const carries = (privateKeyId: string) => added.has(privateKeyId) && !removed.has(privateKeyId);
    const changed = named
      .filter((privateKeyId) => tagsOf(page, privateKeyId).includes(privateKeyTagId) !== carries(privateKeyId))
      .map((privateKeyId): TaggedKey => {
        const others = tagsOf(page, privateKeyId).filter((tagId) => tagId !== privateKeyTagId);
        return [privateKeyId, carries(privateKeyId) ? [...others, privateKeyTagId] : others];
      });
    return {
      changes: [
        put("privateKeyTag", {
          ...tag,
          ...(newPrivateKeyTagName != null && { tagName: newPrivateKeyTagName }),
          updatedAtMs: nowMs,
        }),
        ...putTags(changed, nowMs),
      ],
      result: { privateKeyTagId },
    };
  },
});

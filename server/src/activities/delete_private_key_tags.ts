import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { getPrivateKeyTag, putTags, type TaggedKey } from "../rules/private_key_tags.ts";
import { remove } from "../state/entities.ts";

/** Deletes tags and takes them off every private key that carries them: all of them, or none. */
export const deletePrivateKeyTags = defineActivity({
  path: "delete_private_key_tags",
  type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS",
  intentKey: "deletePrivateKeyTagsIntent",
  resultKey: "deletePrivateKeyTagsResult",
  summary: "Delete private key tags and take them off their keys",
  params: Type.Object({ privateKeyTagIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  result: Type.Object({ privateKeyTagIds: ids, privateKeyIds: Type.Array(id) }),
  cost: ({ privateKeyTagIds }) => privateKeyTagIds.length * unitCosts.entry,
  state: ({ privateKeyTags }) => privateKeyTags,
  run(page, { privateKeyTagIds }, { organizationId, nowMs }) {
    const doomed = new Set(privateKeyTagIds);
    for (const tagId of doomed) getPrivateKeyTag(page, organizationId, tagId);
    const stripped = [...page.keys]
      .filter(([, tagIds]) => tagIds.some((tagId) => doomed.has(tagId)))
      .map(([privateKeyId, tagIds]): TaggedKey => [privateKeyId, tagIds.filter((tagId) => !doomed.has(tagId))]);
    return {
      changes: [...putTags(stripped, nowMs), ...[...doomed].map((tagId) => remove("privateKeyTag", tagId))],
      result: { privateKeyTagIds: [...doomed], privateKeyIds: stripped.map(([privateKeyId]) => privateKeyId) },
    };
  },
});

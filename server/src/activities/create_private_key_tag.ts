import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { id, ids } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import { putTags, refuseTakenPrivateKeyTagName, tagsOf } from "../rules/private_key_tags.ts";
import { getPrivateKey } from "../rules/private_keys.ts";
import { put } from "../state/entities.ts";

/** Creates a tag and gives it to private keys. Policies name tags by id, so a tag's name carries no authority. */
export const createPrivateKeyTag = defineActivity({
  path: "create_private_key_tag",
  type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG",
  intentKey: "createPrivateKeyTagIntent",
  resultKey: "createPrivateKeyTagResult",
  summary: "Create a private key tag and add it to private keys",
  params: Type.Object({ privateKeyTagName: name("Human-readable name of the tag."), privateKeyIds: ids }),
  result: Type.Object({ privateKeyTagId: id, privateKeyIds: ids }),
  cost: ({ privateKeyIds }) => privateKeyIds.length * unitCosts.oldRecord,
  state: ({ privateKeyTags }) => privateKeyTags,
  records: ({ privateKeyIds }) =>
    privateKeyIds.map((privateKeyId) => ({ by: "id", kind: "privateKey", id: privateKeyId })),
  run(page, { privateKeyTagName, privateKeyIds }, context) {
    const { organizationId, nowMs, keys } = context;
    checkLimit("privateKeyTags", page.tags.size + 1, context);
    refuseTakenPrivateKeyTagName(page, privateKeyTagName);
    const tag = { tagId: context.newId(), tagName: privateKeyTagName, createdAtMs: nowMs, updatedAtMs: nowMs };
    const carriers = [...new Set(privateKeyIds)];
    for (const privateKeyId of carriers) getPrivateKey(keys, organizationId, privateKeyId);
    return {
      changes: [
        put("privateKeyTag", tag),
        ...putTags(
          carriers.map((privateKeyId) => [privateKeyId, [...tagsOf(page, privateKeyId), tag.tagId]]),
          nowMs,
        ),
      ],
      result: { privateKeyTagId: tag.tagId, privateKeyIds: carriers },
    };
  },
});

import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { countWithout } from "../rules/key_counts.ts";
import { deletedFacts } from "../rules/keys.ts";
import { putTags, type TaggedKey, tagsOf } from "../rules/private_key_tags.ts";
import { getPrivateKey } from "../rules/private_keys.ts";
import { put } from "../state/entities.ts";

/** Deletes private keys with their secrets: all of them, or none. Their state remembers that they must not come back. */
export const deletePrivateKeys = defineActivity({
  path: "delete_private_keys",
  type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS",
  intentKey: "deletePrivateKeysIntent",
  resultKey: "deletePrivateKeysResult",
  summary: "Delete private keys",
  params: Type.Object({
    privateKeyIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }),
    deleteWithoutExport: optional(
      Type.Boolean({ description: "Whether keys that were never exported may be deleted, too." }),
    ),
  }),
  result: Type.Object({ privateKeyIds: ids }),
  cost: ({ privateKeyIds }) => privateKeyIds.length * unitCosts.oldRecord,
  state: ({ keyCounts, privateKeyTags }) => ({ keyCounts, privateKeyTags }),
  records: ({ privateKeyIds }) =>
    privateKeyIds.map((privateKeyId) => ({ by: "id", kind: "privateKey", id: privateKeyId })),
  run({ keyCounts, privateKeyTags }, { privateKeyIds, deleteWithoutExport }, { organizationId, nowMs, keys }) {
    const doomed = [...new Set(privateKeyIds)].map((privateKeyId) => getPrivateKey(keys, organizationId, privateKeyId));
    for (const { privateKeyId } of doomed) {
      if (deleteWithoutExport !== true && keys.factsOf(privateKeyId)?.exported !== true) {
        throw new Fault(
          "invalid_argument",
          `private key has not been exported: \`${privateKeyId}\`; export it first, or set deleteWithoutExport`,
        );
      }
    }
    const tagged = doomed
      .filter(({ privateKeyId }) => tagsOf(privateKeyTags, privateKeyId).length > 0)
      .map(({ privateKeyId }): TaggedKey => [privateKeyId, []]);
    return {
      changes: [
        ...doomed.map((key) => put("keyFacts", deletedFacts(key, nowMs))),
        ...putTags(tagged, nowMs),
        countWithout(keyCounts, keys, doomed),
      ],
      result: { privateKeyIds: doomed.map(({ privateKeyId }) => privateKeyId) },
    };
  },
});

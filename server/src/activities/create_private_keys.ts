import { generatePrivateKey } from "@keystead/core/keys/key_curves.ts";
import { mapWithPauses } from "@keystead/core/work.ts";
import { costOfPrivateKeys } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { type PrivateKeyParams, privateKeyParams, privateKeyResult } from "../fields/private_keys.ts";
import { type Static, Type } from "../fields/schema.ts";
import { refuseTakenName } from "../rules/keys.ts";
import { wipedUnlessDone } from "../rules/made_records.ts";
import { getPrivateKeyTag, putTags, type TaggedKey } from "../rules/private_key_tags.ts";
import { checkAddressFormats, newPrivateKeyRecord } from "../rules/private_keys.ts";
import { put } from "../state/entities.ts";

const params = Type.Object({ privateKeys: Type.Array(privateKeyParams, { minItems: 1, maxItems: 100 }) });
const result = Type.Object({ privateKeys: Type.Array(privateKeyResult) });

/** Before results had addresses. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS",
  intentKey: "createPrivateKeysIntent",
  resultKey: "createPrivateKeysResult",
  params,
  translate: (same) => same,
  answer: (newest) => ({
    privateKeyIds: (newest as Static<typeof result>).privateKeys.map(({ privateKeyId }) => privateKeyId),
  }),
});

/** Creates private keys: all of them, or none. */
export const createPrivateKeys = defineActivity({
  path: "create_private_keys",
  type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2",
  intentKey: "createPrivateKeysIntentV2",
  resultKey: "createPrivateKeysResultV2",
  summary: "Create private keys",
  params,
  result,
  versions: [v1],
  cost: ({ privateKeys }) => costOfPrivateKeys(privateKeys),
  state: ({ keyCounts, privateKeyTags }) => ({ keyCounts, privateKeyTags }),
  records: ({ privateKeys }) =>
    privateKeys.map(({ privateKeyName }) => ({ by: "name", kind: "privateKey", name: privateKeyName })),
  *run({ keyCounts, privateKeyTags }, { privateKeys }, context) {
    const { organizationId, nowMs, keys } = context;
    const count = keyCounts.privateKeys + privateKeys.length;
    checkLimit("privateKeys", count, context);
    // Whatever can be refused is refused before the first secret exists.
    const taken: string[] = [];
    for (const { privateKeyName, privateKeyTags: tagIds, ...draft } of privateKeys) {
      refuseTakenName(keys, "privateKey", privateKeyName, { taken });
      taken.push(privateKeyName);
      for (const tagId of tagIds ?? []) getPrivateKeyTag(privateKeyTags, organizationId, tagId);
      checkAddressFormats(draft);
    }
    const newKey = ({ privateKeyName, curve, addressFormats, privateKeyTags: tagIds }: PrivateKeyParams) => {
      const draft = { organizationId, privateKeyName, curve, addressFormats, imported: false };
      const secret = generatePrivateKey(curve, keys.random);
      return { created: newPrivateKeyRecord(context, draft, secret), tagIds: [...new Set(tagIds)] };
    };
    const made = yield* wipedUnlessDone((records) =>
      mapWithPauses(privateKeys, (params) => {
        const key = newKey(params);
        records.push(key.created);
        return key;
      }),
    );
    const tagged = made
      .filter(({ tagIds }) => tagIds.length > 0)
      .map(({ created, tagIds }): TaggedKey => [created.record.privateKeyId, tagIds]);
    return {
      changes: [put("keyCounts", { ...keyCounts, privateKeys: count }), ...putTags(tagged, nowMs)],
      records: made.map(({ created }) => created),
      result: {
        privateKeys: made.map(({ created: { record } }) => ({
          privateKeyId: record.privateKeyId,
          addresses: [...record.addresses],
        })),
      },
    };
  },
});

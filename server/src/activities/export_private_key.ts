import { defineActivity } from "../endpoints/define_activity.ts";
import { exportBundle, targetPublicKey } from "../fields/bundles.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { exportSecret, exportStateOf } from "../rules/exports.ts";
import { markExported } from "../rules/key_counts.ts";
import { getPrivateKey } from "../rules/private_keys.ts";

/** Hands out a private key, 32 bytes on every curve. It stays usable, and counts as exported. */
export const exportPrivateKey = defineActivity({
  path: "export_private_key",
  type: "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY",
  intentKey: "exportPrivateKeyIntent",
  resultKey: "exportPrivateKeyResult",
  summary: "Export a private key, encrypted to a key of the client's",
  params: Type.Object({ privateKeyId: id, targetPublicKey }),
  result: Type.Object({ privateKeyId: id, exportBundle }),
  state: exportStateOf,
  records: ({ privateKeyId }) => [{ by: "id", kind: "privateKey", id: privateKeyId }],
  policySubject: ({ privateKeyId }) => ({ by: "privateKey", privateKeyId }),
  sealed: true,
  run(state, { privateKeyId, targetPublicKey }, context) {
    const { keys, nowMs, organizationId } = context;
    const privateKey = getPrivateKey(keys, organizationId, privateKeyId);
    const exportBundle = exportSecret(state, context, privateKey, targetPublicKey);
    return {
      changes: markExported(state.keyCounts, keys, privateKey, nowMs),
      result: { privateKeyId, exportBundle },
    };
  },
});

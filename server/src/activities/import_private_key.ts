import { Fault } from "@keystead/core/fault.ts";
import { generatePrivateKey } from "@keystead/core/keys/key_curves.ts";
import { costOfPrivateKeys, costOfText, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import type { KeyAccess } from "../endpoints/key_access.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { encryptedBundle } from "../fields/bundles.ts";
import { id } from "../fields/ids.ts";
import { privateKeyParams, privateKeyResult } from "../fields/private_keys.ts";
import { Type } from "../fields/schema.ts";
import { importStateOf, openImport } from "../rules/imports.ts";
import { isLive, refuseTakenName } from "../rules/keys.ts";
import { checkAddressFormats, newPrivateKeyRecord } from "../rules/private_keys.ts";
import { put } from "../state/entities.ts";

const { privateKeyName, curve, addressFormats } = privateKeyParams.properties;

/** Takes in a private key: 32 bytes on every curve, and in the curve's range where it has one. */
export const importPrivateKey = defineActivity({
  path: "import_private_key",
  type: "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY",
  intentKey: "importPrivateKeyIntent",
  resultKey: "importPrivateKeyResult",
  summary: "Import a private key that was encrypted to the key of an import bundle",
  params: Type.Object({ userId: id, privateKeyName, encryptedBundle, curve, addressFormats }),
  result: privateKeyResult,
  ownActOf: ({ userId }) => userId,
  cost: ({ encryptedBundle, curve, addressFormats }) =>
    unitCosts.bundle +
    costOfText(encryptedBundle.length, unitCosts.kilobyte) +
    costOfPrivateKeys([{ curve, addressFormats }]),
  state: (pages) => ({ ...importStateOf(pages), keyCounts: pages.keyCounts }),
  records: ({ privateKeyName }) => [{ by: "name", kind: "privateKey", name: privateKeyName }],
  run({ keyCounts, ...state }, params, context) {
    const { keys, organizationId } = context;
    const { privateKeyName, curve, addressFormats } = params;
    // Everything that can be refused without it comes before the secret is in the clear.
    checkLimit("privateKeys", keyCounts.privateKeys + 1, context);
    refuseTakenName(keys, "privateKey", privateKeyName);
    checkAddressFormats({ curve, addressFormats });
    const standIn = () => generatePrivateKey(curve, keys.random);
    const { plaintext: secret, changes } = openImport(state, "privateKey", params, context, standIn);
    try {
      const draft = { organizationId, privateKeyName, curve, addressFormats, imported: true };
      const made = newPrivateKeyRecord(context, draft, secret);
      refuseKnownKey(keys, secret);
      return {
        changes: [...changes, put("keyCounts", { ...keyCounts, privateKeys: keyCounts.privateKeys + 1 })],
        records: [made],
        result: { privateKeyId: made.record.privateKeyId, addresses: [...made.record.addresses] },
      };
    } catch (fault) {
      secret.fill(0);
      throw fault;
    }
  },
});

function refuseKnownKey(keys: KeyAccess, secret: Uint8Array): void {
  const known = keys.findByBlindIndex("privateKey", keys.blindIndex("privateKey", secret));
  if (known?.kind !== "privateKey" || !isLive(keys, known)) return;
  throw new Fault(
    "already_exists",
    `private key with ID ${known.privateKeyId} has already been imported in this organization`,
  );
}

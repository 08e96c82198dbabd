/** What create, import, tag and delete of private keys agree on. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type AddressFormat, getAddressUse } from "@keystead/core/keys/address_formats.ts";
import { type Curve, checkPrivateKey, publicKeyOf } from "@keystead/core/keys/key_curves.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { KeyAccess, NewRecord } from "../endpoints/key_access.ts";
import type { PrivateKeyRecord } from "../state/records.ts";
import { findPrivateKey } from "./keys.ts";

/** What a private key's record says besides what follows from its secret. */
export type PrivateKeyDraft = {
  organizationId: string;
  privateKeyName: string;
  curve: Curve;
  addressFormats: readonly AddressFormat[];
  imported: boolean;
};

/** Refuses formats that do not go with the curve. A format named twice is meant once; none at all is fine. */
function addressUsesOf({ curve, addressFormats }: Pick<PrivateKeyDraft, "curve" | "addressFormats">) {
  return [...new Set(addressFormats)].map((format) => ({ format, use: getAddressUse(format, curve) }));
}

/** For activities that make several: whatever can be refused is refused before the first secret exists. */
export function checkAddressFormats(draft: Pick<PrivateKeyDraft, "curve" | "addressFormats">): void {
  addressUsesOf(draft);
}

/**
 * The record of a private key, with its public key and addresses. Bytes that are no key of the curve are refused. From here on
 * the secret belongs to the outcome; who calls this wipes it only when it throws.
 */
export function newPrivateKeyRecord(
  { keys, nowMs, newId }: Pick<ActivityContext, "keys" | "nowMs" | "newId">,
  draft: PrivateKeyDraft,
  secret: Uint8Array,
): NewRecord & { record: PrivateKeyRecord } {
  const { organizationId, privateKeyName, curve, imported } = draft;
  const uses = addressUsesOf(draft);
  checkPrivateKey(curve, secret);
  const tag = keys.tag("privateKey", secret, organizationId);
  const publicKey = publicKeyOf(keys.signing.keys, curve, secret);
  return {
    record: {
      kind: "privateKey",
      organizationId,
      privateKeyId: newId(tag),
      tag,
      privateKeyName,
      curve,
      publicKey: toHex(publicKey.uncompressed),
      addresses: uses.map(({ format, use }) => ({ format, address: use.encode(publicKey) })),
      imported,
      createdAtMs: nowMs,
    },
    secret,
    blindIndex: keys.blindIndex("privateKey", secret, organizationId),
  };
}

export function getPrivateKey(keys: KeyAccess, organizationId: string, privateKeyId: string): PrivateKeyRecord {
  const key = findPrivateKey(keys, privateKeyId);
  if (key === undefined) {
    throw new Fault("not_found", `unable to find private key ${privateKeyId} in organization ${organizationId}`);
  }
  return key;
}

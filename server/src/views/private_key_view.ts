import type { Curve } from "@keystead/core/keys/key_curves.ts";
import type { PrivateKeyTag } from "../state/entities.ts";
import type { PrivateKeyRow } from "../store/private_keys.ts";
import { timestamp } from "./dialect.ts";

/** A private key as clients see it. */
export function privateKeyView(row: PrivateKeyRow) {
  return {
    privateKeyId: row.private_key_id,
    publicKey: row.public_key,
    privateKeyName: row.private_key_name,
    curve: row.curve as Curve,
    addresses: JSON.parse(row.addresses) as { format: string; address: string }[],
    privateKeyTags: JSON.parse(row.private_key_tags) as string[],
    createdAt: timestamp(row.created_at_ms),
    updatedAt: timestamp(row.updated_at_ms),
    exported: row.exported === 1,
    imported: row.imported === 1,
  };
}

export function privateKeyTagView({ tagId, tagName, createdAtMs, updatedAtMs }: PrivateKeyTag) {
  return {
    tagId,
    tagName,
    tagType: "TAG_TYPE_PRIVATE_KEY" as const,
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}

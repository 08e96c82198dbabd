/** Private keys and their tags, for readers. How many an organization may have is limited, so they need no pages. */
import { compiled } from "./compiled.ts";
import { entityReader } from "./entity_reader.ts";
import { readInOrder } from "./pieces.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** Everything but the record and its secret. */
export type PrivateKeyRow = Omit<Tables["private_keys"], "record" | "sealed" | "name_key" | "blind_index">;

const columns = [
  "organization_id",
  "private_key_id",
  "private_key_name",
  "curve",
  "public_key",
  "addresses",
  "private_key_tags",
  "exported",
  "imported",
  "created_at_ms",
  "updated_at_ms",
  "sort_key",
] as const;

const privateKeyById = compiled("private_key_by_id", (db, organizationId: string, privateKeyId: string) =>
  db
    .selectFrom("private_keys")
    .select(columns)
    .where("organization_id", "=", organizationId)
    .where("private_key_id", "=", privateKeyId),
);

export async function findPrivateKey(
  store: Store,
  organizationId: string,
  privateKeyId: string,
): Promise<PrivateKeyRow | undefined> {
  const [row] = await privateKeyById(store, organizationId, privateKeyId);
  return row;
}

const keysOfPiece = 256;

const nextPrivateKeys = compiled("private_keys_of_organization", (db, organizationId: string, after: string) =>
  db
    .selectFrom("private_keys")
    .select(columns)
    .where("organization_id", "=", organizationId)
    .where("sort_key", ">", after)
    .orderBy("sort_key")
    .limit(keysOfPiece),
);

/** All private keys, the oldest first; of one activity, in the order they were asked for. */
export function listPrivateKeys(store: Store, organizationId: string): Promise<PrivateKeyRow[]> {
  const keyed = { size: keysOfPiece, read: nextPrivateKeys, keyOf: (row: PrivateKeyRow) => row.sort_key };
  return readInOrder(store, organizationId, keyed);
}

/** All private key tags, the oldest first. */
export const { list: listPrivateKeyTags } = entityReader("privateKeyTag");

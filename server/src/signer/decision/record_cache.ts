/**
 * Records whose MAC was checked already, by the digest of their bytes: who signs, signs with the same few again and again.
 * Nothing secret is in a record, and no secret is kept here; each is opened anew, by `unseal`.
 */
import { hash } from "node:crypto";
import type { Authenticity } from "../../state/authenticity.ts";
import { createLru } from "../../state/lru.ts";
import { type AnyRecord, decodeRecord, isKeyRecord, type KeyRecord } from "../../state/records.ts";

export type RecordCache = {
  /** The record in these bytes. Bytes that this deployment's signer did not write are refused. */
  read(marked: Uint8Array): AnyRecord;
};

/** About four thousand records, which take a few times as much as their bytes. */
const maxBytes = 2 * 1024 * 1024;

export function createRecordCache(authenticity: Authenticity): RecordCache {
  const known = createLru<KeyRecord>(maxBytes);
  return {
    read(marked) {
      const digest = hash("sha256", marked, "latin1");
      const found = known.get(digest);
      if (found !== undefined) return found;
      // Frozen, because whoever reads these bytes next gets the same value.
      const record = Object.freeze(decodeRecord(authenticity.check("record", marked)));
      // A text may be as long as thousands of keys. What is read from it is kept elsewhere.
      if (isKeyRecord(record)) known.set(digest, record, marked.length);
      return record;
    },
  };
}

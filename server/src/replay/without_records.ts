import type { StoredRecord } from "../frames/messages.ts";
import { withoutMac } from "../state/authenticity.ts";
import { decodeRecord, isKeyRecord, recordIdOf } from "../state/records.ts";

/** Those that have none of these ids. */
export function withoutRecords(records: readonly StoredRecord[], ids: readonly string[]): readonly StoredRecord[] {
  if (ids.length === 0) return records;
  return records.filter(({ content }) => {
    const record = decodeRecord(withoutMac(content));
    return !isKeyRecord(record) || !ids.includes(recordIdOf(record));
  });
}

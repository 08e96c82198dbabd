/** What an earlier process left of the memory file: its records are read, and what a power cut tore off is cut and kept aside. */
import { existsSync, readFileSync } from "node:fs";
import { setAside, truncate } from "./file_bytes.ts";
import { firstMac, isReadable, readRecords } from "./memory_records.ts";
import type { MemoryRecord } from "./record_kinds.ts";

export type StoredMemory = {
  /** What its whole records take. */
  length: number;
  /** The MAC of the last one. */
  mac: Uint8Array;
  /** What was cut off its end, in bytes. */
  torn: number;
  /** It was written with the root key before this one, and has to be written anew. */
  isOfRetiringKey: boolean;
};

export type MemoryKeys = { current: Uint8Array; retiring: Uint8Array | undefined };

/** Undefined when there is no file. */
export function readStored(
  path: string,
  { current, retiring }: MemoryKeys,
  onRecord: (record: MemoryRecord) => void,
): StoredMemory | undefined {
  if (!existsSync(path)) return undefined;
  const stored = new Uint8Array(readFileSync(path));
  const isOfRetiringKey = retiring !== undefined && !isReadable(stored, current) && isReadable(stored, retiring);
  let lastMac = firstMac(current);
  const length = readRecords(stored, isOfRetiringKey ? retiring : current, (record, mac) => {
    onRecord(record);
    lastMac = mac;
  });
  // What a power cut tore was never relied upon. It is cut, or the next record would follow rubbish, and kept aside.
  const torn = stored.length - length;
  if (torn > 0) {
    setAside(`${path}.torn`, stored.subarray(length));
    truncate(path, length);
  }
  return { length, mac: lastMac, torn, isOfRetiringKey };
}

/**
 * How many keys an organization has, and how many of them somebody has taken along. The signer cannot list keys: it sees only
 * records that the gateway chose to send, so what is to be known about all of them is counted as it happens.
 */
import type { KeyAccess } from "../endpoints/key_access.ts";
import { type Change, type KeyCounts, put } from "../state/entities.ts";
import { type PrivateKeyRecord, recordIdOf, type WalletRecord } from "../state/records.ts";
import { changedFacts } from "./keys.ts";

type Counted = WalletRecord | PrivateKeyRecord;

function isExported(keys: KeyAccess, record: Counted): boolean {
  return keys.factsOf(recordIdOf(record))?.exported === true;
}

/** It counts as exported from now on, and once, however often it is exported. */
export function markExported(counts: KeyCounts, keys: KeyAccess, record: Counted, nowMs: number): Change[] {
  const facts = put("keyFacts", changedFacts(keys, record, { exported: true }, nowMs));
  if (isExported(keys, record)) return [facts];
  return [facts, put("keyCounts", { ...counts, exported: (counts.exported ?? 0) + 1 })];
}

/** What is left when these are gone, each of them named once. */
export function countWithout(counts: KeyCounts, keys: KeyAccess, gone: readonly Counted[]): Change {
  const { exported = 0, ...left } = counts;
  for (const { kind } of gone) left[kind === "wallet" ? "wallets" : "privateKeys"]--;
  const exportedLeft = exported - gone.filter((record) => isExported(keys, record)).length;
  return put("keyCounts", { ...left, ...(exportedLeft > 0 && { exported: exportedLeft }) });
}

/** Wallets and private keys that would be lost for ever with their organization. */
export function countNotExported({ wallets, privateKeys, exported = 0 }: KeyCounts): number {
  return wallets + privateKeys - exported;
}

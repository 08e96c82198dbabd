/**
 * The journals the signer has at hand, each as one line of entries. A state names a journal by slot, count and digest, so
 * a line answers for every prefix of itself: an entry is in the journal if it stands before the state's count.
 */
import { digestKey } from "../state/digest.ts";
import { type Journal, runningDigest } from "../state/journal.ts";
import { createLru } from "./lru.ts";

type Line = { places: Map<string, number>; entries: string[]; digests: string[] };

export type JournalCache = {
  /**
   * Whether the journal holds the fingerprint. When the cache does not know this journal, `entries` from outside may tell:
   * they are believed if they run up to exactly its digest. Undefined when neither can tell.
   */
  has(
    organizationId: string,
    journal: Journal,
    fingerprint: Uint8Array,
    entries: Uint8Array | undefined,
  ): boolean | undefined;
  /** The journal after one more entry. */
  append(organizationId: string, journal: Journal, fingerprint: Uint8Array): Journal;
};

export function createJournalCache(maxEntries = 100_000): JournalCache {
  const lines = createLru<Line>(maxEntries);

  function lineOf(organizationId: string, { slot, count, digest }: Journal): Line | undefined {
    const line = lines.get(`${organizationId} ${slot}`);
    if (count === 0) return line ?? { places: new Map(), entries: [], digests: [] };
    return line?.digests[count - 1] === digestKey(digest) ? line : undefined;
  }

  function learn(organizationId: string, journal: Journal, entries: Uint8Array | undefined): Line | undefined {
    if (entries?.length !== journal.count * 32) return undefined;
    const line: Line = { places: new Map(), entries: [], digests: [] };
    let digest: Uint8Array = new Uint8Array(32);
    for (let at = 0; at < entries.length; at += 32) {
      const fingerprint = entries.subarray(at, at + 32);
      digest = runningDigest(digest, fingerprint);
      const entry = digestKey(fingerprint);
      line.places.set(entry, line.entries.length);
      line.entries.push(entry);
      line.digests.push(digestKey(digest));
    }
    if (digestKey(digest) !== digestKey(journal.digest)) return undefined;
    lines.set(`${organizationId} ${journal.slot}`, line, Math.max(1, line.entries.length));
    return line;
  }

  return {
    has(organizationId, journal, fingerprint, entries) {
      const line = lineOf(organizationId, journal) ?? learn(organizationId, journal, entries);
      if (line === undefined) return undefined;
      const place = line.places.get(digestKey(fingerprint));
      return place !== undefined && place < journal.count;
    },
    append(organizationId, journal, fingerprint) {
      const digest = runningDigest(journal.digest, fingerprint);
      const line = lineOf(organizationId, journal);
      if (line !== undefined) {
        // Entries beyond the state's count belong to a state that was never committed; the line now runs on without them.
        for (const dropped of line.entries.splice(journal.count)) line.places.delete(dropped);
        line.digests.length = journal.count;
        const entry = digestKey(fingerprint);
        line.places.set(entry, journal.count);
        line.entries.push(entry);
        line.digests.push(digestKey(digest));
        lines.set(`${organizationId} ${journal.slot}`, line, line.entries.length);
      }
      return { slot: journal.slot, count: journal.count + 1, digest };
    },
  };
}

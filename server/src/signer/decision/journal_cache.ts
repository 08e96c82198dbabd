/**
 * The journals the signer has at hand, each as one list of entries. A state names a journal by slot, count and digest, so
 * a list answers for every prefix of itself: an entry is in the journal if it stands before the state's count.
 */
import { randomInt } from "node:crypto";
import type { Work } from "@keystead/core/work.ts";
import { type Journal, runningDigest } from "../../state/journal.ts";
import { createLru } from "../../state/lru.ts";

export type JournalCache = {
  /**
   * Whether the journal holds the fingerprint. When the cache does not know this journal, `entries` from outside may tell:
   * they are believed if they run up to exactly its digest. Undefined when neither can tell.
   */
  looking(
    organizationId: string,
    journal: Journal,
    fingerprint: Uint8Array,
    entries: Uint8Array | undefined,
  ): Work<boolean | undefined>;
  /** The journal after one more entry. */
  append(organizationId: string, journal: Journal, fingerprint: Uint8Array): Journal;
};

export function createJournalCache(maxEntries = 100_000): JournalCache {
  const lists = createLru<EntryList>(maxEntries);

  function listOf(organizationId: string, { slot, count, digest }: Journal): EntryList | undefined {
    const list = lists.get(`${organizationId} ${slot}`);
    return list?.runsUpTo(count, digest) === true ? list : undefined;
  }

  function keep(organizationId: string, { slot }: Journal, list: EntryList): void {
    lists.set(`${organizationId} ${slot}`, list, Math.max(1, list.length));
  }

  function* learning(
    organizationId: string,
    journal: Journal,
    entries: Uint8Array | undefined,
  ): Work<EntryList | undefined> {
    if (entries?.length !== journal.count * digestLength) return undefined;
    const list = createEntryList();
    let digest: Uint8Array = new Uint8Array(digestLength);
    for (let at = 0; at < entries.length; at += digestLength) {
      const fingerprint = entries.subarray(at, at + digestLength);
      digest = runningDigest(digest, fingerprint);
      list.put(list.length, fingerprint, digest);
      if (list.length % entriesAtOnce === 0) yield;
    }
    if (!list.runsUpTo(journal.count, journal.digest)) return undefined;
    keep(organizationId, journal, list);
    return list;
  }

  return {
    *looking(organizationId, journal, fingerprint, entries) {
      if (journal.count === 0) return false;
      const list = listOf(organizationId, journal) ?? (yield* learning(organizationId, journal, entries));
      return list?.has(fingerprint, journal.count);
    },
    append(organizationId, journal, fingerprint) {
      const digest = runningDigest(journal.digest, fingerprint);
      const list = journal.count === 0 ? createEntryList() : listOf(organizationId, journal);
      if (list !== undefined) {
        // Entries beyond the state's count belong to a state that was never committed; the list now runs on without them.
        list.put(journal.count, fingerprint, digest);
        keep(organizationId, journal, list);
      }
      return { slot: journal.slot, count: journal.count + 1, digest };
    },
  };
}

const digestLength = 32;

/** Entries between two pauses: a full journal takes a third of a second to read. */
const entriesAtOnce = 1_000;

/** One journal's entries in their order. */
type EntryList = {
  readonly length: number;
  /** Whether its first `count` entries run up to this digest. */
  runsUpTo(count: number, digest: Uint8Array): boolean;
  /** Whether the fingerprint is among the first `count` entries. */
  has(fingerprint: Uint8Array, count: number): boolean;
  /** Makes it the entry at `place`, and the last one. */
  put(place: number, fingerprint: Uint8Array, digest: Uint8Array): void;
};

// Bodies are chosen by users, and so are their hashes to some extent; a seed of our own keeps them from piling up in one place.
const seed = randomInt(2 ** 32) | 1;

/**
 * Everything in typed memory: a map of a hundred thousand strings would be ten times as large, and walked through by every
 * garbage collection.
 */
function createEntryList(): EntryList {
  let length = 0;
  /** Of each entry the fingerprint, then the digest that runs up to it. */
  let entries = new Uint8Array(8 * 2 * digestLength);
  /**
   * Open-addressed: the entry's place and one, or zero. A slot whose entry was dropped or replaced stays: what it points to is
   * compared with what is looked for, so that it says nothing false.
   */
  let slots = new Uint32Array(32);
  let taken = 0;

  function isAt(at: number, digest: Uint8Array): boolean {
    for (let i = 0; i < digestLength; i++) if (entries[at + i] !== digest[i]) return false;
    return true;
  }

  function firstSlot(bytes: Uint8Array, at: number): number {
    const word =
      ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    const mixed = Math.imul(word, seed);
    return (mixed ^ (mixed >>> 15)) & (slots.length - 1);
  }

  function enter(place: number): void {
    let slot = firstSlot(entries, place * 2 * digestLength);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = place + 1;
    taken += 1;
  }

  function grow(): void {
    const larger = new Uint8Array(entries.length * 2);
    larger.set(entries);
    entries = larger;
  }

  /** Leaves behind whatever points to nothing any more. */
  function enterAll(): void {
    slots = new Uint32Array(Math.max(32, 2 ** Math.ceil(Math.log2(length * 4))));
    taken = 0;
    for (let place = 0; place < length; place++) enter(place);
  }

  return {
    get length() {
      return length;
    },
    runsUpTo(count, digest) {
      return count > 0 && count <= length && isAt((2 * count - 1) * digestLength, digest);
    },
    has(fingerprint, count) {
      for (let slot = firstSlot(fingerprint, 0); ; slot = (slot + 1) & (slots.length - 1)) {
        const place = (slots[slot] ?? 0) - 1;
        if (place < 0) return false;
        if (place < count && isAt(place * 2 * digestLength, fingerprint)) return true;
      }
    },
    put(place, fingerprint, digest) {
      const at = place * 2 * digestLength;
      if (at === entries.length) grow();
      entries.set(fingerprint, at);
      entries.set(digest, at + digestLength);
      length = place + 1;
      if ((taken + 1) * 2 > slots.length) enterAll();
      else enter(place);
    },
  };
}

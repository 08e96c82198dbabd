/**
 * Lists are read in pieces, and others are let in between: seven thousand rows in one statement hold the thread for a quarter of a second.
 * Most lists end with their first piece, which is then all that was asked. One that does not goes on in a snapshot, from its beginning:
 * pieces of different moments could show a thing twice, or not at all.
 */
import { createBreathing } from "./breaths.ts";
import { inLongSnapshot, isSnapshot } from "./snapshot.ts";
import type { Store } from "./store.ts";

/** A list of an organization, by a key that is in the database's order: text that both databases compare by its bytes. */
export type Keyed<T> = {
  /** How many a piece has: about two milliseconds' worth. */
  size: number;
  /** The next ones after this key, `size` of them unless there are fewer. */
  read(store: Store, organizationId: string, after: string): Promise<readonly T[]> | readonly T[];
  keyOf(one: T): string;
};

/** All of them, in the order of their keys. */
export async function readInOrder<T>(store: Store, organizationId: string, keyed: Keyed<T>): Promise<T[]> {
  const first = await keyed.read(store, organizationId, "");
  if (first.length < keyed.size || isSnapshot(store)) return goOn(store, organizationId, keyed, first);
  return inLongSnapshot(store, async (snapshot) => {
    return goOn(snapshot, organizationId, keyed, await keyed.read(snapshot, organizationId, ""));
  });
}

async function goOn<T>(store: Store, organizationId: string, keyed: Keyed<T>, first: readonly T[]): Promise<T[]> {
  const breathing = createBreathing();
  const all = [...first];
  for (let piece = first; piece.length === keyed.size; ) {
    const pause = breathing();
    if (pause !== undefined) await pause;
    piece = await keyed.read(store, organizationId, keyed.keyOf(piece[piece.length - 1] as T));
    all.push(...piece);
  }
  return all;
}

/** All of them, the oldest first, and those of one moment by their keys. */
export async function readByAge<T>(
  store: Store,
  organizationId: string,
  keyed: Keyed<T>,
  ageOf: (one: T) => number,
): Promise<T[]> {
  const all = await readInOrder(store, organizationId, keyed);
  // Sorting keeps the order of those that are equal.
  return all.sort((one, other) => ageOf(one) - ageOf(other));
}

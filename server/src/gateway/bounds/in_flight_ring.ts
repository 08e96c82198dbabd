/**
 * Requests in flight by number, oldest first, a bounded number of them. In a ring, not a Map, because they come and go with every
 * request (hash_table.ts says what that costs).
 */
export type InFlightRing<V> = {
  /** The id that the next one gets; they go up by one, and round after 2^32. */
  nextId(): number;
  add(value: V): void;
  get(id: number): V | undefined;
  take(id: number): V | undefined;
  takeAll(): V[];
  oldest(): { id: number; value: V } | undefined;
  /** All of them, oldest first. */
  entries(): Iterable<{ id: number; value: V }>;
  isFull(): boolean;
};

export function createInFlightRing<V>(most: number): InFlightRing<V> {
  // A power of two with room to spare: one that waits long must not keep later ones from slots that are free.
  const size = 2 ** Math.ceil(Math.log2(most * 2));
  const ring = new Array<V | undefined>(size).fill(undefined);
  let taken = 0;
  let next = 1;
  /** No one before it waits. */
  let first = 1;

  const slot = (id: number) => id & (size - 1);
  const after = (id: number) => (id + 1) >>> 0;

  function get(id: number): V | undefined {
    // Something much older would find another in its place.
    return (next - id) >>> 0 > size || id === next ? undefined : ring[slot(id)];
  }

  function take(id: number): V | undefined {
    const value = get(id);
    if (value === undefined) return undefined;
    ring[slot(id)] = undefined;
    taken -= 1;
    return value;
  }

  function oldest(): { id: number; value: V } | undefined {
    while (first !== next && ring[slot(first)] === undefined) first = after(first);
    const value = ring[slot(first)];
    return first === next || value === undefined ? undefined : { id: first, value };
  }

  return {
    nextId: () => next,
    add(value) {
      ring[slot(next)] = value;
      taken += 1;
      next = after(next);
    },
    get,
    take,
    takeAll() {
      const all: V[] = [];
      for (let found = oldest(); found !== undefined; found = oldest()) all.push(take(found.id) as V);
      return all;
    },
    oldest,
    *entries() {
      oldest();
      for (let id = first; id !== next; id = after(id)) {
        const value = ring[slot(id)];
        if (value !== undefined) yield { id, value };
      }
    },
    isFull: () => taken >= most || ring[slot(next)] !== undefined,
  };
}

/**
 * A map that forgets what was not used lately. It has two generations: what is used moves to the young one, and when that
 * is full it becomes the old one, whose entries are then forgotten unless used again. Nothing is ever deleted singly, which
 * with tens of thousands of entries would cost more than what the cache saves.
 */
export type Lru<V> = {
  get(key: string): V | undefined;
  set(key: string, value: V, weight: number): void;
};

type Entry<V> = { value: V; weight: number };

/** Keeps at least what was used last with half of `maxWeight`, and never more than all of it beside a single heavy entry. */
export function createLru<V>(maxWeight: number): Lru<V> {
  let young = new Map<string, Entry<V>>();
  let old = new Map<string, Entry<V>>();
  let youngWeight = 0;

  function keep(key: string, entry: Entry<V>): void {
    young.set(key, entry);
    youngWeight += entry.weight;
    if (youngWeight > maxWeight / 2) age();
  }

  function age(): void {
    old = young;
    young = new Map();
    youngWeight = 0;
  }

  return {
    get(key) {
      const entry = young.get(key);
      if (entry !== undefined) return entry.value;
      const aged = old.get(key);
      if (aged === undefined) return undefined;
      old.delete(key);
      keep(key, aged);
      return aged.value;
    },
    set(key, value, weight) {
      const entry = young.get(key);
      if (entry === undefined) {
        old.delete(key);
        keep(key, { value, weight });
        return;
      }
      youngWeight += weight - entry.weight;
      entry.value = value;
      entry.weight = weight;
      if (youngWeight > maxWeight / 2) age();
    },
  };
}

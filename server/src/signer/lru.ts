/** A map that forgets what was used longest ago once its weight is over a bound. */
export type Lru<V> = {
  get(key: string): V | undefined;
  set(key: string, value: V, weight: number): void;
};

export function createLru<V>(maxWeight: number): Lru<V> {
  const entries = new Map<string, { value: V; weight: number }>();
  let newest: string | undefined;
  let total = 0;
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      // A Map iterates in order of insertion, so moving to the end is what "used" means here.
      if (key !== newest) {
        entries.delete(key);
        entries.set(key, entry);
        newest = key;
      }
      return entry.value;
    },
    set(key, value, weight) {
      const entry = key === newest ? entries.get(key) : undefined;
      if (entry !== undefined) {
        total += weight - entry.weight;
        entry.value = value;
        entry.weight = weight;
      } else {
        total -= entries.get(key)?.weight ?? 0;
        // Deleted first, so that it comes to stand at the end.
        entries.delete(key);
        entries.set(key, { value, weight });
        total += weight;
        newest = key;
      }
      for (const [oldest, entry] of entries) {
        if (total <= maxWeight || oldest === key) break;
        entries.delete(oldest);
        total -= entry.weight;
      }
    },
  };
}

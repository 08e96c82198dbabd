/** A map that forgets what was used longest ago once its weight is over a bound. */
export type Lru<V> = {
  get(key: string): V | undefined;
  set(key: string, value: V, weight: number): void;
  delete(key: string): void;
  readonly weight: number;
};

export function createLru<V>(maxWeight: number): Lru<V> {
  const entries = new Map<string, { value: V; weight: number }>();
  let total = 0;
  return {
    get weight() {
      return total;
    },
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      // A Map iterates in order of insertion, so moving to the end is what "used" means here.
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      this.delete(key);
      entries.set(key, { value, weight });
      total += weight;
      for (const [oldest, entry] of entries) {
        if (total <= maxWeight || oldest === key) break;
        entries.delete(oldest);
        total -= entry.weight;
      }
    },
    delete(key) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entries.delete(key);
      total -= entry.weight;
    },
  };
}

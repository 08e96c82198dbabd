/**
 * A hash table for what comes and goes with every request. A Map leaves behind each table it has outgrown, linked to the next and with all
 * that was in it then; once one of them is old, V8 takes everything behind it for used until it collects the old part of the heap,
 * and most requests of a busy server grow old with it. Here nothing points from older to newer.
 */
export type HashTable<V> = {
  get(name: string): V | undefined;
  set(name: string, value: V): void;
  delete(name: string): void;
};

type Entry<V> = { readonly name: string; value: V; next: Entry<V> | undefined };

/** As many as a busy server works on at once; more are found a little slower. */
const count = 1024;

export function createHashTable<V>(): HashTable<V> {
  const buckets = new Array<Entry<V> | undefined>(count).fill(undefined);

  function find(name: string, bucket: number): Entry<V> | undefined {
    let entry = buckets[bucket];
    while (entry !== undefined && entry.name !== name) entry = entry.next;
    return entry;
  }

  return {
    get: (name) => find(name, bucketOf(name))?.value,
    set(name, value) {
      const bucket = bucketOf(name);
      const entry = find(name, bucket);
      if (entry !== undefined) entry.value = value;
      else buckets[bucket] = { name, value, next: buckets[bucket] };
    },
    delete(name) {
      const bucket = bucketOf(name);
      let before: Entry<V> | undefined;
      for (let entry = buckets[bucket]; entry !== undefined; entry = entry.next) {
        if (entry.name === name) {
          if (before === undefined) buckets[bucket] = entry.next;
          else before.next = entry.next;
          return;
        }
        before = entry;
      }
    },
  };
}

/** By its end: names begin with an organization and end with what tells them apart. */
function bucketOf(name: string): number {
  let sum = 0;
  for (let at = Math.max(0, name.length - 12); at < name.length; at++) sum = (sum * 31 + name.charCodeAt(at)) | 0;
  return sum & (count - 1);
}

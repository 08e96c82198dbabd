/** A map whose entries end: those that are over go a minute at a time, at no cost to the others. */
import { slotOf } from "../../state/journal.ts";

export type ExpiringMap<T> = {
  readonly size: number;
  get(key: string): T | undefined;
  /** Kept at least up to that time. */
  set(key: string, value: T, keptUntilMs: number): void;
  delete(key: string): void;
  /** Returns what is over now and was dropped, in the order of its end. */
  forget(nowMs: number): T[];
  values(): Iterable<T>;
};

export function createExpiringMap<T>(): ExpiringMap<T> {
  const entries = new Map<string, { value: T; slot: number }>();
  // May also name entries that were deleted, or were added again with another end.
  const keysBySlot = new Map<number, string[]>();

  function take(key: string, slot: number): T[] {
    const entry = entries.get(key);
    if (entry?.slot !== slot) return [];
    entries.delete(key);
    return [entry.value];
  }

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key)?.value,
    set(key, value, keptUntilMs) {
      const slot = slotOf(keptUntilMs);
      entries.set(key, { value, slot });
      const keys = keysBySlot.get(slot);
      if (keys === undefined) keysBySlot.set(slot, [key]);
      else keys.push(key);
    },
    delete: (key) => entries.delete(key),
    forget(nowMs) {
      const current = slotOf(nowMs);
      const over = [...keysBySlot.keys()].filter((slot) => slot < current).sort((a, b) => a - b);
      return over.flatMap((slot) => {
        const keys = keysBySlot.get(slot) ?? [];
        keysBySlot.delete(slot);
        return keys.flatMap((key) => take(key, slot));
      });
    },
    *values() {
      for (const { value } of entries.values()) yield value;
    },
  };
}

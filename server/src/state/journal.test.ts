import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dropJournals, findJournal, type JournalTable, oldestSlot, putJournal, slotOf } from "./journal.ts";

test("a journal table behaves like a sorted map, and old journals leave it", () => {
  const entry = fc.record({ slot: fc.nat(50), count: fc.integer({ min: 1, max: 1000 }), keepFrom: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
      let table: JournalTable = new Uint8Array(0);
      const model = new Map<number, number>();
      for (const { slot, count, keepFrom } of entries) {
        if (slot < keepFrom) continue;
        table = putJournal(table, { slot, count, digest: new Uint8Array(32).fill(count & 255) }, keepFrom);
        for (const old of model.keys()) if (old < keepFrom) model.delete(old);
        model.set(slot, count);
      }
      assert.equal(table.length, model.size * 40);
      for (let slot = 0; slot <= 50; slot++) assert.equal(findJournal(table, slot).count, model.get(slot) ?? 0);
    }),
  );
});

test("dropping journals leaves those of the kept slots as they are", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(50), { maxLength: 30 }), fc.nat(60), (slots, keepFrom) => {
      const journal = (slot: number) => ({ slot, count: slot + 1, digest: new Uint8Array(32).fill(slot) });
      const table = slots.reduce<JournalTable>((all, slot) => putJournal(all, journal(slot), 0), new Uint8Array(0));
      const kept = dropJournals(table, keepFrom);
      for (let slot = 0; slot <= 50; slot++) {
        const isKept = slot >= keepFrom && slots.includes(slot);
        assert.equal(findJournal(kept, slot).count, isKept ? slot + 1 : 0);
      }
    }),
  );
});

test("a journal outlives every body of its slot that could still be accepted", () => {
  const now = 1_800_000_000_000;
  // The oldest acceptable body, judged by a clock that has stepped back as far as the signer tolerates.
  assert.ok(oldestSlot(now) < slotOf(now - 300_000 - 3_600_000));
});

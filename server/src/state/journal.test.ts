import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dropJournalsIn, findJournalIn, type Journals, oldestSlot, putJournalIn, slotOf } from "./journal.ts";

const none: Journals = { recent: new Uint8Array(0), older: new Uint8Array(0) };
const journal = (slot: number, count: number) => ({ slot, count, digest: new Uint8Array(32).fill(count & 255) });
const rowsOf = (table: Uint8Array) => table.length / 40;
const slotsOf = (table: Uint8Array) =>
  Array.from({ length: rowsOf(table) }, (_, row) =>
    new DataView(table.buffer, table.byteOffset + row * 40).getUint32(0),
  );

test("journals behave like a map, wherever each of them lies, and old ones are not looked for", () => {
  const entry = fc.record({ slot: fc.nat(50), count: fc.integer({ min: 1, max: 1000 }), rise: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 80 }), (entries) => {
      let journals = none;
      let floor = 0;
      const model = new Map<number, number>();
      for (const { slot, count, rise } of entries) {
        floor += rise;
        journals = slot < floor ? dropJournalsIn(journals, floor) : putJournalIn(journals, journal(slot, count), floor);
        for (const old of model.keys()) if (old < floor) model.delete(old);
        if (slot >= floor) model.set(slot, count);
        const { recent, older } = journals;
        assert.ok(rowsOf(recent) <= 4);
        for (const table of [recent, older]) {
          assert.deepEqual(
            slotsOf(table),
            [...new Set(slotsOf(table))].sort((a, b) => a - b),
          );
        }
        assert.equal(new Set([...slotsOf(recent), ...slotsOf(older)]).size, rowsOf(recent) + rowsOf(older));
      }
      for (let slot = floor; slot <= 50; slot++) {
        assert.deepEqual(
          findJournalIn(journals, slot),
          model.has(slot) ? journal(slot, model.get(slot) ?? 0) : { slot, count: 0, digest: new Uint8Array(32) },
        );
      }
    }),
  );
});

test("the page is written once in a few minutes, and lets go of what is too old then", () => {
  let journals = none;
  let writes = 0;
  for (let minute = 100; minute < 400; minute++) {
    for (let count = 1; count <= 10; count++) {
      const next = putJournalIn(journals, journal(minute, count), minute - 66);
      if (next.older !== journals.older) writes += 1;
      journals = next;
    }
  }
  assert.ok(writes <= 100, `${writes} writes in 300 minutes`);
  assert.ok(rowsOf(journals.older) <= 70, `${rowsOf(journals.older)} journals of 66 minutes`);
});

test("a body from before goes into the page when its minute lies there, and else beside the newest", () => {
  let journals = none;
  for (let minute = 1; minute <= 9; minute += 2) journals = putJournalIn(journals, journal(minute, 1), 0);
  assert.deepEqual(
    [slotsOf(journals.older), slotsOf(journals.recent)],
    [
      [1, 3, 5],
      [7, 9],
    ],
  );
  const inPage = putJournalIn(journals, journal(3, 2), 0);
  assert.equal(inPage.recent.length, journals.recent.length);
  assert.equal(findJournalIn(inPage, 3).count, 2);
  const beside = putJournalIn(journals, journal(4, 1), 0);
  assert.equal(beside.older, journals.older);
  assert.deepEqual(slotsOf(beside.recent), [4, 7, 9]);
});

test("where the directory has all of them, as earlier releases wrote it, the next one leaves it the newest two", () => {
  let before = none;
  for (let minute = 1; minute <= 30; minute++) before = putJournalIn(before, journal(minute, minute), 0);
  const inline = Uint8Array.of(...before.older, ...before.recent);
  const after = putJournalIn({ recent: inline, older: none.older }, journal(31, 1), 3);
  assert.deepEqual(slotsOf(after.recent), [30, 31]);
  assert.deepEqual(
    slotsOf(after.older),
    Array.from({ length: 27 }, (_, at) => at + 3),
  );
  for (let minute = 3; minute <= 30; minute++) assert.equal(findJournalIn(after, minute).count, minute);
});

test("a journal outlives every body of its slot that could still be accepted", () => {
  const now = 1_800_000_000_000;
  // The oldest acceptable body, judged by a clock that has stepped back as far as the signer tolerates.
  assert.ok(oldestSlot(now) < slotOf(now - 300_000 - 3_600_000));
});

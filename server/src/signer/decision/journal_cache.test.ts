import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { finish } from "@keystead/core/work.ts";
import fc from "fast-check";
import { type Journal, runningDigest } from "../../state/journal.ts";
import { createJournalCache, type JournalCache } from "./journal_cache.ts";

const organizationId = "11111111-1111-4111-8111-111111111111";
const empty: Journal = { slot: 7, count: 0, digest: new Uint8Array(32) };

function fingerprintOf(number: number): Uint8Array {
  return new Uint8Array(createHash("sha256").update(String(number)).digest());
}

function has(cache: JournalCache, ...asked: Parameters<JournalCache["looking"]>): boolean | undefined {
  return finish(cache.looking(...asked));
}

/** A journal with its entries in order, as a state and the database know it. */
type Known = { journal: Journal; entries: readonly number[] };

test("a journal holds what was appended to it, whatever else was appended and given up beside it", () => {
  // Each step appends a number to one of the journals so far: what was appended to it before, and is not in it, is given up.
  const step = fc.record({ on: fc.nat(), number: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const cache = createJournalCache();
      const known: Known[] = [{ journal: empty, entries: [] }];
      for (const { on, number } of steps) {
        const { journal, entries } = known[on % known.length] ?? { journal: empty, entries: [] };
        const stored = Buffer.concat(entries.map(fingerprintOf));
        const held = has(cache, organizationId, journal, fingerprintOf(number), stored);
        assert.equal(held, entries.includes(number));
        if (held) continue;
        const next = cache.append(organizationId, journal, fingerprintOf(number));
        assert.deepEqual(next.digest, runningDigest(journal.digest, fingerprintOf(number)));
        assert.equal(next.count, journal.count + 1);
        known.push({ journal: next, entries: [...entries, number] });
      }
      for (const { journal, entries } of known) {
        const stored = Buffer.concat(entries.map(fingerprintOf));
        for (let number = 0; number <= 40; number++) {
          assert.equal(has(cache, organizationId, journal, fingerprintOf(number), stored), entries.includes(number));
        }
      }
    }),
  );
});

test("thousands of entries are found, and nothing else is", () => {
  const cache = createJournalCache();
  let journal = empty;
  for (let number = 0; number < 5_000; number++) {
    journal = cache.append(organizationId, journal, fingerprintOf(number));
  }
  for (let number = 0; number < 5_000; number++) {
    assert.equal(has(cache, organizationId, journal, fingerprintOf(number), undefined), true);
    assert.equal(has(cache, organizationId, journal, fingerprintOf(number + 5_000), undefined), false);
  }
});

test("a journal that is not at hand is believed only with the entries that run up to its digest", () => {
  const writer = createJournalCache();
  let journal = empty;
  for (let number = 0; number < 3; number++) {
    journal = writer.append(organizationId, journal, fingerprintOf(number));
  }
  const asked = fingerprintOf(1);
  const entries = [0, 1, 2].map(fingerprintOf);
  const reader = createJournalCache();
  const told = (given: Uint8Array[]) => has(reader, organizationId, journal, asked, Buffer.concat(given));
  assert.equal(has(reader, organizationId, journal, asked, undefined), undefined);
  assert.equal(told(entries.slice(0, 2)), undefined);
  assert.equal(told(entries.toReversed()), undefined);
  assert.equal(told([fingerprintOf(0), fingerprintOf(9), fingerprintOf(2)]), undefined);
  assert.equal(told(entries), true);
  assert.equal(has(reader, "22222222-2222-4222-8222-222222222222", journal, asked, undefined), undefined);
});

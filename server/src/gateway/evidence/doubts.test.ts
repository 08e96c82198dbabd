import assert from "node:assert/strict";
import { test } from "node:test";
import { createDoubts } from "./doubts.ts";

const limits = { places: 1, waiting: 10, keys: 2, keptMs: 60_000 };

test("a key is in doubt in one organization, from a refused stamp to a verified one", () => {
  const doubts = createDoubts(limits);
  assert.equal(doubts.areNone(), true);
  doubts.note("acme", "02aa");
  assert.equal(doubts.areNone(), false);
  assert.equal(doubts.has("acme", "02aa"), true);
  assert.equal(doubts.has("acme", "02bb"), false);
  assert.equal(doubts.has("other", "02aa"), false);
  doubts.clear("acme", "02aa");
  assert.equal(doubts.has("acme", "02aa"), false);
  assert.equal(doubts.areNone(), true);
});

test("only the newest are kept, and none for ever", async () => {
  const doubts = createDoubts(limits);
  for (const key of ["a", "b", "a", "c"]) doubts.note("acme", key);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => doubts.has("acme", key)),
    [true, false, true],
  );
  const brief = createDoubts({ ...limits, keptMs: 1 });
  brief.note("acme", "a");
  while (brief.has("acme", "a")) await new Promise(setImmediate);
  assert.equal(brief.areNone(), true);
});

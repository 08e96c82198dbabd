import assert from "node:assert/strict";
import { test } from "node:test";
import { createRefusedCredentials } from "./refused_credentials.ts";

const limits = { places: 1, waiting: 10, keys: 2, keptMs: 60_000 };

test("a key is in doubt in one organization, from a refused stamp to a verified one", () => {
  const refusedCredentials = createRefusedCredentials(limits);
  assert.equal(refusedCredentials.areNone(), true);
  refusedCredentials.note("acme", "02aa");
  assert.equal(refusedCredentials.areNone(), false);
  assert.equal(refusedCredentials.has("acme", "02aa"), true);
  assert.equal(refusedCredentials.has("acme", "02bb"), false);
  assert.equal(refusedCredentials.has("other", "02aa"), false);
  refusedCredentials.clear("acme", "02aa");
  assert.equal(refusedCredentials.has("acme", "02aa"), false);
  assert.equal(refusedCredentials.areNone(), true);
});

test("only the newest are kept, and none for ever", async () => {
  const refusedCredentials = createRefusedCredentials(limits);
  for (const key of ["a", "b", "a", "c"]) refusedCredentials.note("acme", key);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => refusedCredentials.has("acme", key)),
    [true, false, true],
  );
  const brief = createRefusedCredentials({ ...limits, keptMs: 1 });
  brief.note("acme", "a");
  while (brief.has("acme", "a")) await new Promise(setImmediate);
  assert.equal(brief.areNone(), true);
});

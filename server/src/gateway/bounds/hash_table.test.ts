import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createHashTable } from "./hash_table.ts";

/** Most of them end alike, and so share a bucket. */
const name = fc.oneof(
  fc.constantFrom("", "a", "b"),
  fc.nat(20).map((number) => `${number} ends like the others`),
);
const step = fc.record({ name, value: fc.option(fc.nat(), { nil: undefined }) });

test("it holds what a Map holds", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const [table, map] = [createHashTable<number>(), new Map<string, number>()];
      for (const { name, value } of steps) {
        if (value === undefined) {
          table.delete(name);
          map.delete(name);
        } else {
          table.set(name, value);
          map.set(name, value);
        }
        for (const { name } of steps) assert.equal(table.get(name), map.get(name));
      }
    }),
  );
});

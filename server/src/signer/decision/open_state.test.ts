import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyPages, type Pages } from "../../state/pages.ts";
import { weightOf } from "./open_state.ts";

test("pages of deleted keys that were asked for count in what a state takes to be kept", () => {
  const pageLengths = new Map([["members", 1_000]]);
  const weigh = (pages: Pages) => weightOf({ pages, pageLengths });
  const gone = "x".repeat(60_000);
  const keyFacts = new Map(Array.from({ length: 100 }, (_, at) => [String(at), { facts: new Map(), gone }]));
  assert.equal(weigh({ ...emptyPages, keyFacts }), weigh(emptyPages) + 6_000_000);
});

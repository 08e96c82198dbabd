import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyPages } from "../../state/pages.ts";
import { createHeads } from "./heads.ts";
import type { OpenState } from "./open_state.ts";

function stateOf(organizationId: string, { deletedPages = 0, version = 1 } = {}): OpenState {
  const gone = "x".repeat(100_000);
  const keyFacts = new Map(Array.from({ length: deletedPages }, (_, at) => [String(at), { facts: new Map(), gone }]));
  const pages = { ...emptyPages, keyFacts };
  return { organizationId, pages, pageLengths: new Map(), version } as unknown as OpenState;
}

test("organizations that have deleted a great many keys drive nobody else's state out", () => {
  const heads = createHeads();
  const others = Array.from({ length: 1_000 }, (_, at) => stateOf(`other ${at}`));
  for (const other of others) heads.set(other);
  for (let turn = 0; turn < 20; turn++) {
    for (const name of ["a", "b"]) heads.set(stateOf(name, { deletedPages: 250, version: turn }));
  }
  for (const other of others) assert.equal(heads.get(other.organizationId), other);
});

test("the newest state counts, whether it became heavy or light", () => {
  const heads = createHeads();
  const states = [0, 200, 0, 0, 200, 200].map((deletedPages, version) => stateOf("a", { deletedPages, version }));
  for (const state of states) {
    heads.set(state);
    assert.equal(heads.get("a"), state);
  }
  // What drives the heavy one out brings no older one back.
  for (const name of ["b", "c", "d", "e", "f", "g"]) heads.set(stateOf(name, { deletedPages: 250 }));
  assert.equal(heads.get("a"), undefined);
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createAuthenticity } from "../../state/authenticity.ts";
import type { ContractInterface } from "../../state/entities.ts";
import { emptyPages } from "../../state/pages.ts";
import { wishKey } from "../../state/record_wish.ts";
import { encodeRecord } from "../../state/records.ts";
import type { Supplied } from "./key_records.ts";
import { NeedsMore, needsRecords } from "./needs_more.ts";
import type { OpenState } from "./open_state.ts";
import { createInterfaceCache, openInterfaces } from "./policy_interfaces.ts";
import { createRecordCache } from "./record_cache.ts";
import type { Signer } from "./signer.ts";

const authenticity = createAuthenticity(new Uint8Array(randomBytes(32)));

function newSigner(): Signer {
  return { records: createRecordCache(authenticity), interfaces: createInterfaceCache() } as Signer;
}

const text = JSON.stringify([{ type: "function", name: "pause", inputs: [], outputs: [] }]);

function listing(...interfaceIds: string[]): Pick<OpenState, "organizationId" | "pages"> {
  const interfaces = interfaceIds.map((interfaceId): [string, ContractInterface] => {
    const entry = { interfaceId, type: "ETHEREUM", address: `0x${"11".repeat(20)}`, label: "L", notes: "" } as const;
    return [interfaceId, { ...entry, length: text.length, createdAtMs: 1, updatedAtMs: 1 }];
  });
  return { organizationId: "acme", pages: { ...emptyPages, contractInterfaces: new Map(interfaces) } };
}

function stored(interfaceId: string, organizationId = "acme", own = text) {
  const record = { kind: "contractInterface", organizationId, interfaceId, text: own } as const;
  return { content: authenticity.mark("record", encodeRecord(record)), sealed: new Uint8Array() };
}

const wishFor = (id: string) => ({ by: "id", kind: "contractInterface", id }) as const;
const nothing: Supplied = { records: [], wishes: [] };

test("what is not at hand is asked for, read once, and then known", () => {
  const signer = newSigner();
  const state = listing("a");
  assert.throws(
    () => openInterfaces(signer, state, nothing).openInterface("a"),
    (error) =>
      error instanceof NeedsMore && assert.deepEqual(error.wishes, needsRecords([wishFor("a")]).wishes) === undefined,
  );
  const supplied = { records: [stored("a")], wishes: [wishKey(wishFor("a"))] };
  const opened = openInterfaces(signer, state, supplied).openInterface("a");
  assert.equal(opened.type, "ETHEREUM");
  assert.equal(openInterfaces(signer, state, nothing).openInterface("a"), opened);
});

test("a text that is listed and was not found stops the decision: it is never as if there were none", () => {
  const looked = { records: [], wishes: [wishKey(wishFor("a"))] };
  assert.throws(() => openInterfaces(newSigner(), listing("a"), looked).openInterface("a"), {
    code: "aborted",
    message: /^organization acme: the text of smart contract interface a is missing; .*`npx keystead check-database`$/,
  });
});

test("another interface's text, another organization's, or bytes that are nobody's do not pass for it", () => {
  const wishes = [wishKey(wishFor("a"))];
  const open = (record: ReturnType<typeof stored>) =>
    openInterfaces(newSigner(), listing("a", "b"), { records: [record], wishes }).openInterface("a");
  for (const record of [stored("b"), stored("a", "other")]) assert.throws(() => open(record), { code: "aborted" });
  const forged = stored("a");
  forged.content[40] = (forged.content[40] ?? 0) ^ 1;
  assert.throws(() => open(forged), { code: "aborted", message: /^organization acme: a record was not written by/ });
});

test("what the state does not list any more is not opened, though it is still known", () => {
  const signer = newSigner();
  openInterfaces(signer, listing("a"), { records: [stored("a")], wishes: [] }).openInterface("a");
  assert.throws(() => openInterfaces(signer, listing("b"), nothing).openInterface("a"), { code: "internal" });
});

test("interfaces of one id in two organizations are told apart", () => {
  const signer = newSigner();
  const theirs = { ...listing("a"), organizationId: "other" };
  const empty = "[]";
  const ours = openInterfaces(signer, listing("a"), { records: [stored("a")], wishes: [] }).openInterface("a");
  const other = openInterfaces(signer, theirs, { records: [stored("a", "other", empty)], wishes: [] }).openInterface(
    "a",
  );
  assert.notDeepEqual(ours, other);
  assert.equal(openInterfaces(signer, listing("a"), nothing).openInterface("a"), ours);
});

test("all that is missing is asked for at once, and what came is not asked for again", () => {
  const signer = newSigner();
  const state = listing("a", "b", "c");
  openInterfaces(signer, state, { records: [stored("b")], wishes: [] }).openInterface("b");
  const asks = (supplied: Supplied, wanted: readonly string[]) =>
    assert.throws(
      () => openInterfaces(signer, state, supplied).expectInterfaces(["a", "b", "c"]),
      (error) =>
        error instanceof NeedsMore &&
        assert.deepEqual(error.wishes, needsRecords(wanted.map(wishFor)).wishes) === undefined,
    );
  asks(nothing, ["a", "c"]);
  asks({ records: [stored("a")], wishes: [] }, ["c"]);
  const looked = { records: [stored("a")], wishes: ["a", "c"].map((id) => wishKey(wishFor(id))) };
  const sources = openInterfaces(signer, state, looked);
  sources.expectInterfaces(["a", "b", "c"]);
  assert.equal(sources.openInterface("a").type, "ETHEREUM");
  assert.throws(() => sources.openInterface("c"), { code: "aborted" });
});

test("what one request needs stays known until it is decided, also the most that one may need", () => {
  const signer = newSigner();
  const functions = Array.from({ length: 500 }, (_, i) => ({ name: `f${i}` }));
  const ids = Array.from({ length: 64 }, (_, i) => `i${i}`);
  // 64 of the most functions, together as long as texts may be.
  const long = JSON.stringify(functions).padEnd(32_768);
  const state = listing(...ids);
  const page = new Map([...state.pages.contractInterfaces].map(([id, each]) => [id, { ...each, length: long.length }]));
  const sized = { ...state, pages: { ...state.pages, contractInterfaces: page } };
  const supplied = { records: ids.map((id) => stored(id, "acme", long)), wishes: [] };
  const first = openInterfaces(signer, sized, supplied);
  first.expectInterfaces(ids);
  const opened = ids.map((id) => first.openInterface(id));
  const again = openInterfaces(signer, sized, nothing);
  again.expectInterfaces(ids);
  assert.ok(ids.every((id, i) => again.openInterface(id) === opened[i]));
});

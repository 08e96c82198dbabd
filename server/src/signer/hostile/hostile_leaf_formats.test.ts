/** Two formats of leaves under one MAC: what a gateway could make of that, and what the signer takes of both. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import type { NamedState } from "@keystead/core/log/leaf_format_2.ts";
import { counted, formatTwo, u32 } from "../../../../core/test/leaf_bytes.ts";
import { asFormat1, changedLeaf, markedLeaf } from "../../../test/leaf_formats.ts";
import {
  anotherOrganization,
  createSignerRig,
  createTagBody,
  leafOf,
  prepareOn,
  type SignerRig,
  type StoredState,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";

const notOurs = "a leaf was not written by this deployment's signer";

/** Each alone: what one of them comes to must not depend on its neighbours. */
function releaseEach(rig: SignerRig, leaves: readonly Uint8Array[]): string[] {
  return leaves.map((leaf) => {
    const [outcome] = rig.operations.release({ rows: [{ leaf, sealed: undefined }], links: [] });
    return outcome?.kind === "refused" ? outcome.value.message : String(outcome?.kind);
  });
}

const count = (values: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]));

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

/** A prepared leaf in both formats. The signer has been started anew, so it knows neither by its bytes. */
function prepareBoth() {
  const first = createSignerRig();
  const row = prepareOn(first, first.born, createTagBody(first, "tag"));
  const rig = first.restart();
  const older = asFormat1(rig, row.leaf);
  assert.deepEqual([row.leaf[0], older[0]], [2, 1]);
  return { rig, row, older };
}

const stateOf = ({ header }: StoredState): NamedState => {
  const content = withoutMac(header);
  const { organizationId, version } = decodeHeader(content);
  return { organizationId, version, digest: sha256(content) };
};

test("a leaf of which any bit is changed is refused, in both formats", () => {
  const { rig, row, older } = prepareBoth();
  for (const leaf of [row.leaf, older]) {
    const bits = leaf.length * 8;
    const all = Array.from({ length: bits }, (_, bit) => flipped(leaf, bit));
    assert.deepEqual(count(releaseEach(rig, all)), { [notOurs]: bits });
    assert.deepEqual(releaseEach(rig, [leaf]), ["released"]);
  }
});

test("a leaf that is labelled with another format, cut or prolonged is refused, in both formats", () => {
  const { rig, row, older } = prepareBoth();
  for (const leaf of [row.leaf, older]) {
    const labelled = Array.from({ length: 256 }, (_, format) => Uint8Array.of(format, ...leaf.subarray(1)));
    const others = labelled.filter(([format]) => format !== leaf[0]);
    const prolonged = [Uint8Array.of(...leaf, 0), Uint8Array.of(...withoutMac(leaf), 0, ...leaf.subarray(-32))];
    const cut = [
      leaf.subarray(0, -1),
      leaf.subarray(1),
      Uint8Array.of(...leaf.subarray(0, -33), ...leaf.subarray(-32)),
    ];
    assert.deepEqual(count(releaseEach(rig, [...others, ...prolonged, ...cut])), { [notOurs]: 255 + 2 + 3 });
  }
});

test("both formats of one leaf are one leaf: the second changes nothing that the first did", () => {
  const { rig, row, older } = prepareBoth();
  const { organizationId } = leafOf(row);
  assert.deepEqual(releaseEach(rig, [older]), ["released"]);
  const pin = rig.memory.pins.get(organizationId);
  assert.equal(pin?.version, 2);
  assert.deepEqual(releaseEach(rig, [row.leaf]), ["released"]);
  assert.deepEqual(rig.memory.pins.get(organizationId), pin);
});

test("a leaf of format 1 is released for a state on the line, and for no other", () => {
  const { rig, row } = prepareBoth();
  const [state] = leafOf(row).states;
  assert.ok(state);
  const without = (states: NamedState[]) => asFormat1(rig, changedLeaf(rig, row.leaf, { header: undefined, states }));
  assert.deepEqual(releaseEach(rig, [without([state])]), ["released"]);
  const [message] = releaseEach(rig, [without([{ ...state, digest: new Uint8Array(32).fill(1) }])]);
  assert.match(message ?? "", /it was rolled back or forked/);
});

test("every state that a leaf names must be on its own organization's line, not only the first", () => {
  const { rig, row } = prepareBoth();
  const user = userWithKey("Ann", new Uint8Array(32).fill(1), rig.clock.nowMs);
  const other = anotherOrganization(rig, randomUUID(), [user]);
  const states = [...leafOf(row).states, stateOf(other)];
  const [own, theirs] = states;
  assert.ok(own && theirs);
  const leaf = (named: NamedState[], header = leafOf(row).header) =>
    changedLeaf(rig, row.leaf, { states: named, header });

  // Its first state is what a pin of nothing is followed by.
  const links = [other.header];
  const release = (marked: Uint8Array) =>
    rig.operations.release({ rows: [{ leaf: marked, sealed: undefined }], links })[0];
  const forked = { ...theirs, version: 2, digest: new Uint8Array(32).fill(1) };
  for (const named of [[own, forked], [forked]]) {
    assert.equal(release(leaf(named))?.kind, "again", "nothing leads to it");
    assert.equal(release(leaf(named, undefined))?.kind, "again");
  }
  assert.equal(rig.memory.pins.get(own.organizationId)?.version, 1, "nothing was released");

  assert.equal(release(leaf(states))?.kind, "released");
  assert.equal(rig.memory.pins.get(own.organizationId)?.version, 2);
  assert.equal(rig.memory.pins.get(theirs.organizationId)?.version, 1);
  const set = release(leaf([own, { ...theirs, digest: new Uint8Array(32).fill(1) }], undefined));
  assert.equal(set?.kind, "refused");
});

test("the leaf of a newer release is refused by what is unknown in it, and its neighbours are released", () => {
  const { rig, row, older } = prepareBoth();
  const leaf = leafOf(row);
  const [given] = leaf.evidence;
  assert.ok(given?.credentialId);
  const head = [u32(1), given.userId, Buffer.of(1), given.credentialId, given.body];
  const newer = {
    "unknown leaf format 3": formatTwo(leaf, { format: 3 }),
    "malformed bytes: unknown evidence kind 9": formatTwo(leaf, {
      evidence: Buffer.concat([...head, Buffer.of(9), Buffer.alloc(100)]),
    }),
    "malformed bytes: unknown kind of outside value 9": formatTwo(leaf, {
      outside: Buffer.concat([u32(1), Buffer.of(9, 0), counted("7")]),
    }),
  };
  const rows = [older, ...Object.values(newer).map((content) => markedLeaf(rig, content)), row.leaf];
  const outcomes = rig.operations.release({ rows: rows.map((each) => ({ leaf: each, sealed: undefined })), links: [] });
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === "refused" ? outcome.value.message : outcome.kind)),
    ["released", ...Object.keys(newer), "released"],
  );
});

test("each leaf has a blind of its own, and none is drawn twice", () => {
  const rig = createSignerRig();
  const rows = Array.from({ length: 300 }, (_, index) => prepareOn(rig, rig.born, createTagBody(rig, `tag ${index}`)));
  const blinds = new Set(rows.map((row) => Buffer.from(leafOf(row).blind ?? []).toString("hex")));
  assert.equal(blinds.size, 300);
  assert.ok([...blinds].every((blind) => blind.length === 32 && !/^0+$/.test(blind)));
});

test("a leaf's states are of the organizations that decided: its own, or of a birth the parent's", () => {
  const rig = createSignerRig();
  const [own] = leafOf(prepareOn(rig, rig.born, createTagBody(rig, "tag"))).states;
  assert.deepEqual(own, { ...stateOf(rig.born), organizationId: uuidToBytes(rig.orders.birth.organizationId) });
  assert.deepEqual(leafOf(rig.birthRow).states, []);
});

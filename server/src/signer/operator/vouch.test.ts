import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { createPolicySigner } from "../../../test/policy_signer_rig.ts";
import {
  anotherOrganization,
  checkingSigner,
  createSignerRig,
  createTagBody,
  prepareOn,
  releaseRows,
  stateAfter,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { openKeyring } from "../secrets/keyring.ts";

const nothing = { leaves: [], heads: [], records: [], bodies: [] };

test("a head is told by where it stands to what was released", () => {
  const rig = createSignerRig();
  const other = prepareOn(rig, rig.born, createTagBody(rig, "other"));
  const one = prepareOn(rig, rig.born, createTagBody(rig, "one"));
  releaseRows(rig, [one]);
  const released = stateAfter(rig.born, one);
  const ahead = stateAfter(released, prepareOn(rig, released, createTagBody(rig, "ahead")));
  const forked = stateAfter(rig.born, other);
  const unknown = anotherOrganization(rig, "0aa0aa00-0000-4000-8000-00000000000b", [
    userWithKey("Nobody", new Uint8Array(32).fill(1), rig.clock.nowMs),
  ]);
  const heads = [rig.born, released, ahead, forked, unknown].map(({ header }) => header);
  const reply = checkingSigner(rig).vouch({ ...nothing, heads: [...heads, one.leaf, new Uint8Array()] });
  assert.deepEqual(
    reply.heads.map(({ standing }) => standing),
    ["BEHIND", "RELEASED", "AHEAD", "FORKED", "UNKNOWN", "FOREIGN", "FOREIGN"],
  );
  assert.deepEqual(
    reply.heads.map(({ releasedVersion }) => releasedVersion),
    [2, 2, 2, 2, undefined, undefined, undefined],
  );
});

test("a head that is ahead is led to by the heads shown with it, or it is said that nothing leads to it", () => {
  const rig = createSignerRig();
  const states = [rig.born];
  for (const name of ["two", "three", "four"]) {
    const before = states.at(-1) as typeof rig.born;
    states.push(stateAfter(before, prepareOn(rig, before, createTagBody(rig, name))));
  }
  const [, two, three, four] = states.map(({ header }) => header) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const standings = (...heads: Uint8Array[]) =>
    // One that has seen none of them: what it saw before would lead, too.
    checkingSigner(rig)
      .vouch({ ...nothing, heads })
      .heads.map(({ standing }) => standing);
  assert.deepEqual(standings(four), ["UNLED"]);
  assert.deepEqual(standings(three, four), ["UNLED", "UNLED"]);
  assert.deepEqual(
    standings(
      two,
      three.map((byte) => byte ^ 1),
      four,
    ),
    ["AHEAD", "FOREIGN", "UNLED"],
  );
  for (const heads of [
    [two, three, four],
    [four, three, two],
    [three, two, four],
  ]) {
    assert.deepEqual(standings(...heads), ["AHEAD", "AHEAD", "AHEAD"]);
  }
});

test("a record is vouched for with its own secret alone, and equal secrets are told by the same index as when they were made", () => {
  const { quorum, records } = createPolicySigner();
  const operations = checkingSigner(quorum.rig);
  const made = quorum.committed.flatMap((row) => row.records);
  assert.deepEqual(
    operations.vouch({ ...nothing, records }).records,
    made.map(({ blindIndex }) => ({ own: true, opens: true, blindIndex })),
  );
  const [wallet, account] = records;
  assert.ok(wallet && account);
  const mixed = [
    { ...wallet, sealed: account.sealed },
    { ...wallet, content: account.sealed },
    { content: new Uint8Array(), sealed: new Uint8Array() },
  ];
  assert.deepEqual(
    operations.vouch({ ...nothing, records: mixed }).records,
    [true, false, false].map((own) => ({ own, opens: false, blindIndex: undefined })),
  );
});

test("a leaf is vouched for by its MAC, and by no other purpose's", () => {
  const rig = createSignerRig();
  const { authenticity } = openKeyring(rig.rootKey, 1, rig.keyring);
  const marked = authenticity.mark("record", rig.birthRow.leaf);
  const leaves = [rig.birthRow.leaf, rig.born.header, marked, new Uint8Array(3)];
  assert.deepEqual(checkingSigner(rig).vouch({ ...nothing, leaves }).leaves, [true, false, false, false]);
});

test("every organization that something was released of is listed, page by page", () => {
  const rig = createSignerRig();
  const { pages, pins } = checkingSigner(rig).pins({ page: 0 });
  assert.equal(pages, 1);
  assert.deepEqual(
    pins.map(({ organizationId, version }) => [uuidFromBytes(organizationId), version]),
    [[rig.orders.birth.organizationId, 1]],
  );
  assert.deepEqual(checkingSigner(rig).pins({ page: 1 }), { pages: 1, pins: [] });
});

test("a memory that knows no deployment vouches for nothing", () => {
  const rig = createSignerRig();
  const lost = rig.restart({ folder: mkdtempSync(join(tmpdir(), "keystead-blank-")) });
  const operations = checkingSigner(lost);
  assert.throws(() => operations.vouch({ ...nothing, leaves: [rig.birthRow.leaf] }), { code: "unavailable" });
  assert.throws(() => operations.pins({ page: 0 }), { code: "unavailable" });
});

test("a signer that serves vouches for nothing and lists nothing, whatever else it was ordered", () => {
  const rig = createSignerRig();
  const refused = { code: "permission_denied", message: "the operator did not order to check the database" };
  for (const orders of [{}, { acceptDatabase: true }, { reseal: true }, { adoptUnknown: true }]) {
    const { operations } = rig.restart({ orders });
    assert.throws(() => operations.vouch(nothing), refused);
    assert.throws(() => operations.vouch({ ...nothing, leaves: [rig.birthRow.leaf] }), refused);
    assert.throws(() => operations.pins({ page: 0 }), refused);
  }
});

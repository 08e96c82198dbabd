/** A page of key facts that is full: only the root quorum may make it longer, and it too up to a bound. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exportClient } from "../../../test/imports.ts";
import { keyOfFormat1, keyRecordOf } from "../../../test/key_formats.ts";
import { createPolicySigner, type PolicySigner } from "../../../test/policy_signer_rig.ts";
import { only } from "../../../test/signer_rig.ts";
import type { KeyFacts } from "../../state/entities.ts";
import { keyFactsCodec, withFacts } from "../../state/key_facts_page.ts";
import { emptyPages, encodePageOf, maxFactsLength } from "../../state/pages.ts";

const name = "keyFacts/ab";
const [privateKeyId = "", walletId = "", ...goneIds] = Array.from({ length: 7_000 }, (_, at) => {
  return `ab000000-0000-4000-8000-${at.toString(16).padStart(12, "0")}`;
});

function pageOf(facts: readonly KeyFacts[]): Uint8Array<ArrayBuffer> {
  const keyFacts = new Map([["ab", withFacts(keyFactsCodec.empty, facts)]]);
  return encodePageOf({ ...emptyPages, keyFacts }, name);
}

const goneLength = 22;

function goneOf(id: string): KeyFacts {
  return { id, kind: "privateKey", deleted: true, updatedAtMs: 0 };
}

/** A page with these facts that has room for so many more deleted keys, and for not a byte of the next. */
function pageBelow(bound: number, room: number, facts: readonly KeyFacts[] = []): Uint8Array<ArrayBuffer> {
  const count = Math.floor((bound - pageOf(facts).length) / goneLength) - room;
  const page = pageOf([...facts, ...goneIds.slice(0, count).map(goneOf)]);
  assert.ok(page.length + room * goneLength <= bound && page.length + (room + 1) * goneLength > bound);
  return page;
}

/**
 * An organization with this page from the beginning. Its wallet and one private key have ids that belong there: they are of record
 * format 1, in which nothing binds an id to a secret. `elsewhere` is a key of another page.
 */
function organizationWith(content: Uint8Array<ArrayBuffer>): { world: PolicySigner; elsewhere: string } {
  const world = createPolicySigner({ pages: [{ name, content }] });
  world.policy("All", "true");
  const elsewhere = "cd000000-0000-4000-8000-000000000000";
  const key = { curve: "CURVE_ED25519", privateKeyTags: [], addressFormats: [] };
  const privateKeys = [privateKeyId, elsewhere].map((id) => ({ ...key, privateKeyName: id }));
  world.done("ann", "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", { privateKeys });
  const moved = world.records.map((row) => {
    const record = keyRecordOf(row);
    const ids = record.kind === "privateKey" ? { privateKeyId: record.privateKeyName } : { walletId };
    return keyOfFormat1(world.quorum.rig, row, ids);
  });
  world.records.splice(0, world.records.length, ...moved);
  return { world, elsewhere };
}

const deletion = (...privateKeyIds: readonly string[]) =>
  ["ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", { privateKeyIds, deleteWithoutExport: true }] as const;

/** All that makes a page of key facts longer. */
const { targetPublicKey } = exportClient();
const longer = [
  deletion(privateKeyId),
  ["ACTIVITY_TYPE_DELETE_WALLETS", { walletIds: [walletId], deleteWithoutExport: true }],
  ["ACTIVITY_TYPE_EXPORT_PRIVATE_KEY", { privateKeyId, targetPublicKey }],
  ["ACTIVITY_TYPE_EXPORT_WALLET", { walletId, targetPublicKey }],
  ["ACTIVITY_TYPE_UPDATE_WALLET", { walletId, walletName: "Other" }],
] as const;

const done = "done";

/** How the signer answers this person's request, of which nothing is committed. */
function answer(
  { bring, quorum }: PolicySigner,
  person: string,
  [type, parameters]: readonly [string, object],
): string {
  const { activity, next } = only(bring(person, quorum.body(type, parameters)));
  const isDone = activity?.status === "ACTIVITY_STATUS_COMPLETED";
  assert.equal(next !== undefined, isDone, "what is refused changes nothing");
  return isDone ? done : JSON.parse(activity?.failure ?? "").message;
}

const [tooMany, elsewhereInstead] = [
  "organization has deleted, renamed or exported too many keys",
  "make new keys in another sub-organization",
];
const refusals = {
  dave: `${tooMany}: the root quorum can still do it; ${elsewhereInstead}`,
  ann: `${tooMany}; ${elsewhereInstead}`,
};

test("at the bound of a page only the root quorum can delete, export or rename a key of it", () => {
  const { world, elsewhere } = organizationWith(pageBelow(maxFactsLength.others, 0));
  for (const request of longer) {
    assert.equal(answer(world, "dave", request), refusals.dave, request[0]);
    assert.equal(answer(world, "ann", request), done, request[0]);
  }
  assert.equal(answer(world, "dave", deletion(elsewhere)), done, "other pages have room");
  assert.equal(answer(world, "dave", deletion(elsewhere, privateKeyId)), refusals.dave);
});

test("at its own bound the root quorum is refused too", () => {
  const { world, elsewhere } = organizationWith(pageBelow(maxFactsLength.rootQuorum, 0));
  for (const person of ["ann", "dave"] as const) {
    for (const request of longer)
      assert.equal(answer(world, person, request), refusals[person], `${person}: ${request[0]}`);
    assert.equal(answer(world, person, deletion(elsewhere)), done);
  }
});

for (const [person, bound] of [
  ["dave", maxFactsLength.others],
  ["ann", maxFactsLength.rootQuorum],
] as const) {
  test(`up to ${bound} bytes a page has room for ${person}, to the last deleted key`, () => {
    const { world } = organizationWith(pageBelow(bound, 1));
    assert.equal(answer(world, person, deletion(privateKeyId)), done);
    world.done(person, ...deletion(privateKeyId));
    assert.equal(
      answer(world, person, ["ACTIVITY_TYPE_UPDATE_WALLET", { walletId, walletName: "Other" }]),
      refusals[person],
    );
  });
}

test("what makes a page shorter is done however long it is: a deleted key takes less room than an exported one", () => {
  const exported: KeyFacts = { id: privateKeyId, kind: "privateKey", exported: true, updatedAtMs: 1_800_000_000_000 };
  const { world } = organizationWith(pageBelow(maxFactsLength.rootQuorum, 0, [exported]));
  assert.equal(answer(world, "dave", deletion(privateKeyId)), done);
});

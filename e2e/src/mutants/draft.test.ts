/** What counts as a mutant: other bytes on the wire than the valid request's, and no mutator that had nothing to change. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { createKey } from "../key_pairs.ts";
import type { Place, Stage } from "../matrix/stage.ts";
import type { Person } from "../world.ts";
import { isUnbuilt } from "./answers.ts";
import { type Mutator, makeDraft, type Seed } from "./draft.ts";
import { mutators } from "./mutators.ts";

function newPerson(organizationId: string): Person {
  return {
    organizationId,
    userId: randomUUID(),
    userName: "Ann",
    p256: createKey("API_KEY_CURVE_P256"),
    secp256k1: createKey("API_KEY_CURVE_SECP256K1"),
    ed25519: createKey("API_KEY_CURVE_ED25519"),
    apiKeyIds: [],
  };
}

function newPlace(): Place {
  const organizationId = randomUUID();
  const [root, deputy, member, expired] = Array.from({ length: 4 }, () => newPerson(organizationId));
  return { organizationId, parentId: undefined, root, deputy, member, expired } as unknown as Place;
}

function newSeed(): Seed {
  const places = { parent: newPlace(), sub: newPlace(), other: newPlace() } as Stage;
  const { parent } = places;
  const { organizationId, root, deputy } = parent;
  const parameters = { userTagName: "A tag", userIds: [root.userId] };
  const type = "ACTIVITY_TYPE_CREATE_USER_TAG";
  const value = { type, timestampMs: String(Date.now()), organizationId, parameters };
  const others = [root, deputy].map(({ p256 }) => ({
    body: Buffer.from(JSON.stringify({ organizationId })),
    key: p256,
  }));
  return { kind: "submit", path: "create_user_tag", places, place: parent, callers: [root, deputy], value, others };
}

const seed = newSeed();
const random = seededRandom(7);
const named = (name: string): Mutator => {
  const found = mutators.find((mutator) => mutator.name === name);
  assert.ok(found, `there is no mutator "${name}"`);
  return found;
};

test("a request that nobody interfered with is not bent, whoever stamps it", () => {
  for (let n = 0; n < 100; n++) {
    const { applied, isBent } = makeDraft(seed, [], random);
    assert.deepEqual([applied, isBent], [[], false]);
  }
});

test("a request that is only handed over otherwise is not bent; a part of it is", () => {
  for (const name of ["in two pieces", "byte by byte at first", "the last byte by itself", "and its side closed"]) {
    assert.equal(makeDraft(seed, [named(name)], random).isBent, false, name);
  }
  const part = named("a part, and its side closed");
  const parts = Array.from({ length: 20 }, () => makeDraft(seed, [part], random).isBent);
  assert.ok(parts.includes(true));
});

test("a mutator that found nothing to change has not had its way, and what is changed back is not bent", () => {
  const bare = makeDraft(seed, [named("no stamp"), named("a folded header")], random);
  assert.deepEqual(
    bare.applied.map(({ name }) => name),
    ["no stamp"],
  );
  assert.equal(bare.isBent, true);
  const order = named("headers in another order");
  const twice = makeDraft(seed, [order, order], random);
  assert.deepEqual([twice.applied.length, twice.isBent], [2, false]);
});

test("every mutator that does not only hand over bends what it is given", () => {
  const handed = mutators.filter(({ at }) => at === "delivery");
  const idle = mutators.filter((mutator) => {
    const made = Array.from({ length: 12 }, () => makeDraft(seed, [mutator], random));
    return !made.some(({ isBent, applied }) => isBent && applied.includes(mutator)) && !handed.includes(mutator);
  });
  assert.deepEqual(
    idle.map(({ name }) => name),
    [],
  );
});

test("only what is known not to be built may be answered 501, and only where it is", () => {
  const answer = (message: string, code = 12) => {
    return { status: 501, headers: new Map(), body: JSON.stringify({ code, message }) };
  };
  const whatsApp = "OTP_TYPE_WHATSAPP is not offered; use OTP_TYPE_EMAIL or OTP_TYPE_SMS";
  assert.equal(isUnbuilt(answer(whatsApp), "init_otp"), true);
  assert.equal(isUnbuilt(answer(whatsApp), "create_user_tag"), false);
  assert.equal(isUnbuilt(answer(whatsApp, 13), "init_otp"), false);
  assert.equal(isUnbuilt(answer(whatsApp), undefined), false);
  assert.equal(isUnbuilt(answer("not supported yet"), "init_otp"), false);
  assert.equal(isUnbuilt({ ...answer(whatsApp), status: 500 }, "init_otp"), false);
});

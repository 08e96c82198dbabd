import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeLeaf, peekNumber } from "@keystead/core/log/leaf.ts";
import { createOnItsWay, type Leaving } from "./on_its_way.ts";

/** A leaf with this number, and a MAC of zeros but for its end. */
function leaving(number: number, end = 0): Leaving {
  const [id, digest] = [new Uint8Array(16).fill(7), new Uint8Array(32).fill(8)];
  const states = [{ organizationId: id, version: 1, digest }];
  const leaf = {
    boot: id,
    number,
    event: "COMPLETED",
    organizationId: id,
    states,
    activityType: "ACTIVITY_TYPE_CREATE_USER_TAG",
    fingerprint: digest,
    outside: [],
  } as const;
  const content = encodeLeaf({
    ...leaf,
    blind: id,
    grounds: "ROOT_QUORUM",
    activityId: id,
    timeMs: 1,
    header: undefined,
    evidence: [],
    outcome: digest,
  });
  return { leaf, marked: Uint8Array.of(...content, ...new Uint8Array(31), end), ledTo: undefined };
}

test("a leaf's number is read off its bytes where it stands", () => {
  for (const number of [0, 1, 255, 2 ** 32 - 1]) assert.equal(peekNumber(leaving(number).marked), number);
  assert.equal(peekNumber(leaving(2 ** 32 + 5).marked), 5);
  assert.equal(peekNumber(new Uint8Array(24)), undefined);
});

test("what left is found by its very bytes, once", () => {
  const onItsWay = createOnItsWay();
  const own = leaving(7);
  onItsWay.put(own);
  assert.equal(onItsWay.take(leaving(7, 1).marked), undefined, "other bytes");
  assert.equal(onItsWay.take(leaving(8).marked), undefined, "another number");
  assert.equal(onItsWay.take(new Uint8Array(20)), undefined, "too short for a leaf");
  assert.equal(onItsWay.take(Uint8Array.from(own.marked)), own);
  assert.equal(onItsWay.take(own.marked), undefined, "taken before");
});

test("whoever is not released makes room, and a result is kept with its own leaf only", () => {
  const onItsWay = createOnItsWay();
  const [old, young] = [leaving(1), leaving(1 + 1_024)];
  onItsWay.put(old);
  onItsWay.put(young);
  onItsWay.putResult(1, { text: "old", sealed: new Uint8Array(8) });
  assert.equal(onItsWay.take(old.marked), undefined);
  onItsWay.putResult(1 + 1_024, { text: "long", sealed: new Uint8Array(5_000) });
  assert.equal(young.result, undefined);
  onItsWay.putResult(1 + 1_024, { text: "young", sealed: new Uint8Array(8) });
  assert.equal(onItsWay.take(young.marked)?.result?.text, "young");
});

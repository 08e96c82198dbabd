import assert from "node:assert/strict";
import { test } from "node:test";
import { createOnItsWay, type Leaving } from "./on_its_way.ts";

/** As long as a leaf's head, with its number where a leaf has it. */
function leaving(number: number, end = 0): Leaving {
  const marked = new Uint8Array(60);
  new DataView(marked.buffer).setBigUint64(17, BigInt(number));
  marked[59] = end;
  const id = new Uint8Array(16);
  const leaf = { boot: id, number, event: "COMPLETED", organizationId: id, stateVersion: 1, stateDigest: id } as const;
  return { leaf, marked, ledTo: undefined };
}

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

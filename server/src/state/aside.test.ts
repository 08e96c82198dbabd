import assert from "node:assert/strict";
import { test } from "node:test";
import { createAside } from "./aside.ts";

test("what is kept aside is the object's own: no copy, no JSON and no other aside has it", () => {
  const [texts, others] = [createAside<object, string>(), createAside<object, string>()];
  const user = { userName: "Ada", tags: ["a"] };
  texts.set(user, "kept");
  assert.equal(texts.get(user), "kept");
  for (const copy of [{ ...user }, structuredClone(user), Object.assign({}, user)]) {
    assert.equal(texts.get(copy), undefined);
    assert.deepEqual(copy, { userName: "Ada", tags: ["a"] });
  }
  assert.equal(JSON.stringify(user), '{"userName":"Ada","tags":["a"]}');
  assert.equal(others.get(user), undefined);
});

test("objects that nobody may change have asides, too", () => {
  const texts = createAside<object, string>();
  const frozen = Object.freeze({ userName: "Ada" });
  texts.set(frozen, "kept");
  assert.equal(texts.get(frozen), "kept");
});

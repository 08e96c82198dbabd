import assert from "node:assert/strict";
import { test } from "node:test";
import { knownAnswers, selfTest } from "./self_test.ts";

test("the known answers are given here, and each that were another would keep the signer from starting", () => {
  selfTest();
  for (const [index, wrong] of knownAnswers.entries()) {
    for (const ask of [() => "00", () => assert.fail()] as const) {
      const bent = knownAnswers.with(index, { ...wrong, ask });
      assert.throws(() => selfTest(bent), {
        message: `it does not trust this machine's cryptography: ${wrong.what} fails its self-test`,
      });
    }
  }
});

test("a source of randomness that repeats itself is refused", () => {
  const stuck = (length: number) => Buffer.alloc(length, 4);
  assert.throws(() => selfTest(knownAnswers, stuck as typeof import("node:crypto").randomBytes), {
    message: /: randomness fails its self-test$/,
  });
});

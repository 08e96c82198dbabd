import assert from "node:assert/strict";
import { test } from "node:test";
import { createBlinds } from "./blinds.ts";

test("a blind is sixteen random bytes, given once and never changed afterwards", () => {
  const drawn: Uint8Array[] = [];
  const nextBlind = createBlinds((length) => {
    const bytes = new Uint8Array(length).map((_, index) => (index >> 4) ^ (drawn.length << 4) ^ index);
    drawn.push(bytes);
    return bytes;
  });
  const given = Array.from({ length: 1_000 }, nextBlind);
  const copies = given.map((blind) => Uint8Array.from(blind));
  for (const bytes of drawn) bytes.fill(0);
  for (let n = 0; n < 1_000; n++) nextBlind();
  assert.ok(given.every(({ length }) => length === 16));
  assert.deepEqual(
    given.map((blind) => Uint8Array.from(blind)),
    copies,
  );
  assert.ok(drawn.length < 20, "random bytes are drawn for many at a time");
});

test("blinds of two signers, and of one, all differ", () => {
  const [one, other] = [createBlinds(), createBlinds()];
  const all = Array.from({ length: 2_000 }, (_, index) => Buffer.from((index % 2 ? one : other)()).toString("hex"));
  assert.equal(new Set(all).size, 2_000);
});

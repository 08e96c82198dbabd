import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromHex, fromHexAt, toHex } from "./hex.ts";

test("bytes survive, in either case", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const text = toHex(bytes);
      assert.equal(text, Buffer.from(bytes).toString("hex"));
      assert.deepEqual(fromHex(text), bytes);
      assert.deepEqual(fromHex(text.toUpperCase()), bytes);
    }),
    { seed: 1 },
  );
});

test("an odd length, a prefix and any other character are refused", () => {
  for (const text of [
    "0",
    "abc",
    "0x00",
    "0g",
    "g0",
    " 00",
    "00 ",
    "0 0 ",
    "ßß",
    "\uff10\uff10",
    "\u0130\u0130",
    "-1",
    "00\n0",
  ]) {
    assert.throws(() => fromHex(text), { code: "invalid_argument" }, text);
  }
});

test("of the characters below U+0200, exactly the 22 hex digits are read", () => {
  let read = 0;
  for (let a = 0; a < 0x200; a++) {
    for (const b of ["0", "f"]) {
      try {
        fromHex(String.fromCharCode(a) + b);
        read++;
      } catch (error) {
        assert.equal((error as { code?: string }).code, "invalid_argument");
      }
    }
  }
  assert.equal(read, 22 * 2);
});

test("hex is read from a place on, as what is left there would be", () => {
  assert.deepEqual(fromHexAt("0x00fF", 2), Uint8Array.of(0, 255));
  assert.deepEqual(fromHexAt("0x", 2), new Uint8Array());
  for (const text of ["", "0", "0x0", "0x0g", "0x0x"]) {
    assert.throws(() => fromHexAt(text, 2), { code: "invalid_argument" }, text);
  }
});

test("a runtime without hex of its own writes the same", () => {
  const write = Uint8Array.prototype.toHex;
  Object.assign(Uint8Array.prototype, { toHex: undefined });
  try {
    assert.equal(toHex(Uint8Array.of(0, 255, 160)), "00ffa0");
  } finally {
    Object.assign(Uint8Array.prototype, { toHex: write });
  }
});

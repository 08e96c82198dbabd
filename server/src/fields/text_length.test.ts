import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Guard } from "typebox/guard";
import { codePointCount } from "./text_length.ts";

test("a text is as long as it has characters, whole or half", () => {
  const lengths: [text: string, length: number][] = [
    ["", 0],
    ["a€", 2],
    ["🔑🔑", 2],
    ["\ud83d", 1],
    ["\udd11\ud83d", 2],
    ["\ud83d\ud83d\udd11", 2],
  ];
  for (const [text, length] of lengths) assert.equal(codePointCount(text), length, JSON.stringify(text));
});

test("it is counted as the validators' own rules count", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.integer({ min: 0xd7ff, max: 0xe000 }).map((unit) => String.fromCharCode(unit)) }),
      (text, halves) => {
        assert.equal(codePointCount(text + halves), Guard.CodePointCount(text + halves));
      },
    ),
  );
});

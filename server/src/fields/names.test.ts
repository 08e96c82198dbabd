import assert from "node:assert/strict";
import { test } from "node:test";
import { Value } from "typebox/value";
import { activityValidators } from "../generated/activity_validators.ts";
import { foldName, name } from "./names.ts";

const schema = name("A name.");
const generated = (userTagName: string) => activityValidators.create_user_tag?.({ userTagName, userIds: [] });

const refused: [what: string, character: string][] = [
  ["the null character", "\0"],
  ["a line break", "\n"],
  ["an escape, which terminals obey", "\u001b"],
  ["delete", "\u007f"],
  ["a control character beyond ASCII", "\u0085"],
  ["a right-to-left override", "\u202e"],
  ["a left-to-right embedding", "\u202a"],
  ["an isolate", "\u2066"],
  ["the end of an isolate", "\u2069"],
  ["a right-to-left mark", "\u200f"],
  ["an Arabic letter mark", "\u061c"],
  ["a space without width", "\u200b"],
  ["a word joiner", "\u2060"],
  ["a byte order mark", "\ufeff"],
];
for (const [what, character] of refused) {
  test(`a name with ${what} is refused, wherever it stands`, () => {
    for (const text of [character, `${character}ab`, `a${character}b`, `ab${character}`]) {
      assert.equal(Value.Check(schema, text), false);
      assert.equal(generated(text), false);
    }
  });
}

test("names in any script, with marks and emoji, of one to 255 characters, are accepted", () => {
  const accepted = [
    "treasury",
    " ",
    "Größe",
    "财务",
    "ניהול",
    "خزانة",
    "e\u0301",
    "🔑",
    "x".repeat(255),
    "🔑".repeat(255),
  ];
  for (const text of accepted) assert.ok(generated(text) && Value.Check(schema, text), text);
  for (const text of ["", "x".repeat(256), "🔑".repeat(256)]) assert.equal(generated(text), false);
});

test("names that look alike fold to one: case, compatibility forms, composed and decomposed", () => {
  const alike = [
    ["Treasury", "treasury", "TREASURY", "ｔｒｅａｓｕｒｙ", "𝐓reasury"],
    ["Größe", "GRÖSSE".replace("SS", "ß"), "gro\u0308ße"],
    ["office", "oﬃce"],
    ["№ 1", "No 1"],
    ["a b", "a\u00a0b"],
  ];
  for (const [first = "", ...others] of alike) {
    for (const other of others) assert.equal(foldName(other), foldName(first), `${other} and ${first}`);
  }
});

test("names that differ stay apart", () => {
  const names = ["treasury", "treasury ", "treasury 2", "resume", "résumé", "größe", "grosse"];
  assert.equal(new Set(names.map(foldName)).size, names.length);
});

test("folding a folded name changes nothing", () => {
  for (const text of ["TREASURY", "ＡＢＣ", "№", "Ⅳ", "ﬃ", "é"]) assert.equal(foldName(foldName(text)), foldName(text));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { organization } from "../../test/members.ts";
import { refuseTakenTagName } from "./tags.ts";

const { members } = organization({ tags: ["Treasury", "Ops"] });

test("a name that another tag has, or that only looks like it, is refused with the one that exists", () => {
  for (const name of ["Treasury", "treasury", "ＴＲＥＡＳＵＲＹ", "Trea\u200dsury", "Treasury "]) {
    assert.throws(() => refuseTakenTagName(members, name), {
      code: "invalid_argument",
      message: "user tag label must be unique: `Treasury` exists",
    });
  }
});

test("a tag may keep its own name, or change its case, and not take another's", () => {
  refuseTakenTagName(members, "TREASURY", "Treasury");
  assert.throws(() => refuseTakenTagName(members, "ops", "Treasury"), { code: "invalid_argument" });
});

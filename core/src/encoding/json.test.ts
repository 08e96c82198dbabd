import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../fault.ts";
import { readJson } from "./json.ts";

const utf8 = new TextEncoder();
const read = (text: string) => readJson(utf8.encode(text));

function refused(text: string, why: string): void {
  assert.throws(() => read(text), { code: "invalid_argument", message: `bad request body: ${why}`, detail: why }, text);
}

test("an ordinary document is read as JSON.parse reads it", () => {
  const text = '{"a":[1,-2.5,1e3,true,false,null,"\\u00e9\\n\\"\\\\"],"b":{"":{"c":"x:y{z}[\\"],"},"1":2},"é":"𝄞"}';
  assert.deepEqual(read(text), JSON.parse(text));
  for (const scalar of ["1", '"x"', "null", "true", " [] \r\n\t"]) assert.deepEqual(read(scalar), JSON.parse(scalar));
});

test("what is not JSON is refused without quoting it", () => {
  for (const text of ["", " ", "{", '{"secret-token"', "[1,]", "{'a':1}", "01", "NaN", '"\u0001"', '{"a":1}}', "]["]) {
    refused(text, "not JSON");
  }
  const error = (() => {
    try {
      read('{"password":"hunter2"');
    } catch (thrown) {
      return thrown;
    }
  })();
  assert.ok(error instanceof Fault);
  assert.ok(!`${error.stack} ${error.detail} ${error.cause}`.includes("hunter2"));
});

test("duplicate keys are refused at any depth, however they are spelled", () => {
  refused('{"a":1,"a":1}', "duplicate key");
  refused('[{"x":{"b":[],"c":2,"b":{}}}]', "duplicate key");
  refused('{"1":0,"1":0}', "duplicate key");
  refused('{"a":1,"\\u0061":2}', "an escape inside an object key");
  refused('{"":1,"":2}', "duplicate key");
  assert.deepEqual(read('{"a":{"a":{"a":"a:a"}},"A":":"}'), { a: { a: { a: "a:a" } }, A: ":" });
});

test("a duplicate is not hidden by names that JavaScript objects have already", () => {
  refused('{"toString":1,"toString":2}', "duplicate key");
  refused('{"length":1,"length":2}', "duplicate key");
  assert.deepEqual(read('{"constructor":1,"hasOwnProperty":2}'), { constructor: 1, hasOwnProperty: 2 });
});

test("a backslash is refused in keys and welcome in values", () => {
  for (const key of ["\\u0062", "\\\\", "\\n", "\\/", '\\"', "a\\tb"]) {
    refused(`{"${key}":1}`, "an escape inside an object key");
    refused(`{"${key}" \n\t : 1}`, "an escape inside an object key");
    assert.deepEqual(read(`{"a":"${key}"}`), { a: JSON.parse(`"${key}"`) });
    assert.deepEqual(read(`["${key}",{"b":1}]`), [JSON.parse(`"${key}"`), { b: 1 }]);
  }
});

test("`__proto__` is refused as a key and welcome as a value", () => {
  refused('{"__proto__":{"admin":true}}', "the key `__proto__`");
  refused('{"a":[{"__proto__":null}]}', "the key `__proto__`");
  assert.deepEqual(read('["__proto__"]'), ["__proto__"]);
});

test("NUL and lone surrogates are refused anywhere", () => {
  refused('"\\u0000"', "a NUL character");
  refused('{"a":["x\\u0000y"]}', "a NUL character");
  refused('["\\ud800"]', "a lone surrogate");
  refused('["\\udc00\\ud800"]', "a lone surrogate");
  assert.equal(read('"\\ud834\\udd1e\\\\u0000"'), "\u{1d11e}\\u0000");
});

test("nesting is allowed to depth 32 and no further, whatever it is made of", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    const nested = (depth: number) => open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);
    assert.doesNotThrow(() => read(nested(32)));
    refused(nested(33), "nested deeper than 32");
    refused(open.repeat(100_000), "nested deeper than 32");
  }
  assert.doesNotThrow(() => read(`[${"[],{},".repeat(1000)}"${"[".repeat(100)}"]`));
});

test("numbers that would silently become others are refused", () => {
  assert.deepEqual(read("[9007199254740991,-9007199254740991,0.1,1e15,-0]"), [2 ** 53 - 1, 1 - 2 ** 53, 0.1, 1e15, -0]);
  for (const text of ["9007199254740992", "9007199254740993", "-9007199254740993", "10000000000000000999", "1e22"]) {
    refused(text, "an integer beyond 2^53");
  }
  for (const text of ["1e999", "-1e999", '{"a":[1e309]}']) refused(text, "a number too large to represent");
});

test("bytes that are not UTF-8, and a byte order mark, are refused", () => {
  const refusedBytes = (bytes: number[], why: string) =>
    assert.throws(() => readJson(Uint8Array.from(bytes)), { code: "invalid_argument", detail: why });
  refusedBytes([0xef, 0xbb, 0xbf, 0x7b, 0x7d], "starts with a byte order mark");
  refusedBytes([0x22, 0xff, 0x22], "not UTF-8");
  refusedBytes([0x22, 0xc0, 0x80, 0x22], "not UTF-8"); // NUL, overlong
  refusedBytes([0x22, 0xed, 0xa0, 0x80, 0x22], "not UTF-8"); // a surrogate
  refusedBytes([0x22, 0xe2, 0x82], "not UTF-8"); // truncated
  assert.equal(read('"\ufeff"'), "\ufeff", "inside a string it is only a character");
});

test("the size bound is the caller's, and the bytes may be a view", () => {
  assert.throws(() => readJson(utf8.encode("[1]"), 2), { code: "invalid_argument", detail: "longer than 2 bytes" });
  assert.deepEqual(readJson(utf8.encode("[1]"), 3), [1]);
  assert.deepEqual(readJson(utf8.encode("xx[1]xx").subarray(2, 5)), [1]);
  assert.throws(() => readJson(new Uint8Array(1024 * 1024 + 1)), { code: "invalid_argument" });
});

test("brackets, commas and colons are counted outside texts, where the caller bounds them", () => {
  const within = (text: string, maxMarks: number) => readJson(utf8.encode(text), undefined, maxMarks);
  const text = '{"a":[1,2,{}],"b":",,::[["}';
  assert.deepEqual(within(text, 11), JSON.parse(text));
  const why = "bad request body: more than 10 brackets, commas and colons";
  assert.throws(() => within(text, 10), { code: "invalid_argument", message: why });
  assert.doesNotThrow(() => read(`[${"{},".repeat(100_000)}0]`), "without a bound, any number");
  const many = { code: "invalid_argument", message: "bad request body: more than 1000 brackets, commas and colons" };
  for (const piece of ["{},", "0,", '"",', '"a":1,', "[],"]) {
    assert.throws(() => within(`{"x":[${piece.repeat(100_000)}0]}`, 1000), many, piece);
  }
});

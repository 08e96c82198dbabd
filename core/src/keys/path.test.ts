import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatPath, hardened, parsePath, pathKey } from "./path.ts";

test("paths are read with every hardened mark, down to depth 255", () => {
  assert.deepEqual(parsePath("m"), []);
  assert.deepEqual(parsePath("m/0"), [0]);
  assert.deepEqual(parsePath("m/44'/60h/0H/0/7"), [hardened + 44, hardened + 60, hardened, 0, 7]);
  assert.deepEqual(parsePath("m/2147483647'"), [0xffffffff]);
  assert.equal(parsePath(`m${"/2147483647'".repeat(255)}`).length, 255);
});

const refusal =
  "invalid path: write it like m/44'/60'/0'/0/0, each number below 2147483648, with ' or h after a hardened one";

test("whatever the grammar does not allow is an `invalid path`", () => {
  const tooDeep = `m${"/0".repeat(256)}`;
  for (const text of [
    ...["", "/", "M", "m/", "/m", "m//0", "m/0/", "0/1", "44'/60'", "mm/0", "m0", " m/0", "m/0 ", "m/0\n", "\nm/0"],
    ...[
      "m/00",
      "m/01",
      "m/+1",
      "m/-1",
      "m/1e3",
      "m/0x1",
      "m/1.0",
      "m/ 1",
      "m/１",
      "m/a",
      "m/'",
      "m/h",
      "m/0''",
      "m/0'h",
    ],
    ...["m/0hh", "m/0`", "m/0’", "m/2147483648", "m/2147483648'", "m/4294967296", "m/9999999999", "m/99999999999"],
    ...[tooDeep, `m/${"1".repeat(5000)}`, "m/NaN", "m/Infinity", "m/undefined", "m/0/*", "m\\0", "m/44'/../0"],
  ]) {
    assert.throws(() => parsePath(text), { code: "invalid_argument", message: refusal }, JSON.stringify(text));
  }
});

test("every path has one canonical spelling, and reads back from it", () => {
  const index = fc.oneof(fc.nat(0xffffffff), fc.constantFrom(0, 1, hardened - 1, hardened, 0xffffffff));
  fc.assert(
    fc.property(fc.array(index, { maxLength: 255 }), fc.constantFrom("'", "h", "H"), (path, mark) => {
      const text = formatPath(path);
      assert.deepEqual(parsePath(text), path);
      assert.equal(formatPath(parsePath(text.replaceAll("'", mark))), text);
    }),
    { seed: 44, numRuns: 200 },
  );
});

test("a text that is read at all differs from its canonical spelling in the marks only", () => {
  const character = fc.constantFrom(..."m/0123456789'hH -+.");
  const text = fc.oneof(
    fc.string({ unit: character, maxLength: 12 }),
    fc.string({ unit: character, maxLength: 12 }).map((rest) => `m/${rest}`),
  );
  let read = 0;
  fc.assert(
    fc.property(text, (given) => {
      let canonical: string;
      try {
        canonical = formatPath(parsePath(given));
      } catch (error) {
        assert.equal((error as Error).message, refusal);
        return;
      }
      read++;
      assert.equal(canonical, given.replaceAll(/[hH]/g, "'"));
    }),
    { seed: 45, numRuns: 5000 },
  );
  assert.ok(read > 100, `${read}`);
});

test("two paths are the same exactly when they lead to the same key on their curve", () => {
  const [given, allHardened] = ["m/44h/501'/0H/0", "m/44'/501'/0'/0'"];
  assert.equal(pathKey("CURVE_ED25519", given), pathKey("CURVE_ED25519", allHardened));
  for (const curve of ["CURVE_SECP256K1", "CURVE_P256"] as const) {
    assert.notEqual(pathKey(curve, given), pathKey(curve, allHardened));
    assert.equal(pathKey(curve, given), "m/44'/501'/0'/0");
  }
});

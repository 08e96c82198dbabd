import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sentenceSpellings, spellings } from "../../../server/test/secret_spellings.ts";
import { createScanner, type Needle } from "./scanner.ts";

const sentence = "legal winner thank year wave sausage worth useful legal winner thank yellow";

function needlesOf(secret: Uint8Array): Needle[] {
  return [...spellings(secret), ...sentenceSpellings(sentence, 4)].map(({ as, bytes }, n) => {
    return { name: `${n} ${as}`, bytes };
  });
}

test("each spelling of a secret is found wherever it lies, and nothing that only begins like it", () => {
  const needles = needlesOf(randomBytes(32));
  const { scan } = createScanner(needles);
  const all = new Set(needles.map(({ name }) => name));
  const expected = (hay: Buffer) => needles.filter(({ bytes }) => hay.includes(bytes)).map(({ name }) => name);
  for (const { name, bytes } of needles) {
    for (const [before, after] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [1_000, 1_000],
    ] as const) {
      const hay = Buffer.concat([randomBytes(before), bytes, randomBytes(after)]);
      const found = scan(hay);
      assert.ok(found.has(name));
      assert.deepEqual([...found].sort(), expected(hay).sort());
    }
    const altered = Uint8Array.from(bytes);
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
    assert.ok(!scan(altered).has(name));
  }
  assert.deepEqual(scan(Buffer.concat(needles.map(({ bytes }) => bytes))), all);
  assert.deepEqual(scan(randomBytes(100_000)), new Set());
  assert.deepEqual(scan(new Uint8Array(0)), new Set());
  assert.throws(() => createScanner([{ name: "short", bytes: new Uint8Array(15) }]), /too short/);
});

test("a code of nine characters is found in every spelling where the hash is as short", () => {
  const needles = spellings(Buffer.from("7Q0ZK4WXM")).map(({ as, bytes }, n) => ({ name: `${n} ${as}`, bytes }));
  const { scan } = createScanner(needles, 9);
  for (const { name, bytes } of needles) {
    assert.ok(scan(Buffer.concat([randomBytes(1_000), bytes, randomBytes(1_000)])).has(name));
    assert.deepEqual(scan(bytes.subarray(1)), new Set());
  }
  // Where it is part of something longer, it has one of three spellings in base64.
  for (const before of ["", "x", "xy"]) {
    const hay = Buffer.from(Buffer.from(`${before}7Q0ZK4WXM, and more`).toString("base64"));
    assert.match([...scan(hay)].join(), /base64/);
  }
  assert.deepEqual(scan(randomBytes(1_000_000)), new Set());
  assert.throws(() => createScanner([{ name: "short", bytes: new Uint8Array(8) }], 9), /too short/);
});

test("a needle across two pieces of a file is found, and at both its ends", () => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-scan-"));
  try {
    const needle = randomBytes(64);
    const { scanFile, scanFrom } = createScanner([{ name: "it", bytes: needle }]);
    const path = join(folder, "hay");
    const piece = 8 * 2 ** 20;
    for (const at of [0, piece - 64, piece - 63, piece - 1, piece, piece + 1, piece + 100_000 - 64]) {
      const hay = Buffer.alloc(piece + 100_000, 7);
      needle.copy(hay, at);
      writeFileSync(path, hay);
      assert.deepEqual(scanFile(path), { found: new Set(["it"]), length: hay.length });
    }
    // However little comes at a time.
    const hay = Buffer.concat([randomBytes(500), needle, randomBytes(500)]);
    const sip = (into: Uint8Array, at: number) => hay.copy(into, 0, at, Math.min(hay.length, at + 7));
    assert.deepEqual(scanFrom(sip), { found: new Set(["it"]), length: hay.length });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

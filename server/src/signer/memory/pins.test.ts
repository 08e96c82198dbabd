import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { createPins } from "./pins.ts";

test("pins behave like a map through growth and overwriting", () => {
  const pins = createPins();
  const model = new Map<string, number>();
  const ids = Array.from({ length: 5_000 }, () => new Uint8Array(randomBytes(16)));
  for (let i = 0; i < 20_000; i++) {
    const id = ids[(i * 7919) % ids.length] ?? new Uint8Array(16);
    pins.set(id, { version: i + 1, digest: new Uint8Array(32).fill(i & 255) });
    model.set(toHex(id), i + 1);
  }
  assert.equal(pins.size, model.size);
  for (const id of ids) assert.equal(pins.get(id)?.version, model.get(toHex(id)));
  assert.equal(pins.get(new Uint8Array(randomBytes(16))), undefined);
  assert.equal([...pins.entries()].length, model.size);
});

test("versions beyond 32 bits are kept", () => {
  const pins = createPins();
  const id = new Uint8Array(16).fill(1);
  pins.set(id, { version: 2 ** 40 + 3, digest: new Uint8Array(16).fill(5) });
  assert.deepEqual(pins.get(id), { version: 2 ** 40 + 3, digest: new Uint8Array(16).fill(5) });
});

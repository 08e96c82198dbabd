import assert from "node:assert/strict";
import { test } from "node:test";
import { isUuid, uuidFromBytes, uuidToBytes } from "./uuid.ts";

const text = "7ff189fb-df7d-452e-8540-57632e380b77";

test("a UUID survives, and upper case becomes lower case", () => {
  assert.equal(uuidToBytes(text).length, 16);
  assert.equal(uuidFromBytes(uuidToBytes(text)), text);
  assert.equal(uuidFromBytes(uuidToBytes(text.toUpperCase())), text);
});

test("every other form is refused", () => {
  for (const bad of [
    "",
    text.slice(1),
    `${text}0`,
    ` ${text}`,
    `${text}\n`,
    `{${text}}`,
    `urn:uuid:${text}`,
    text.replaceAll("-", ""),
    text.replace("7", "g"),
    "7ff189f-bdf7d-452e-8540-57632e380b77",
  ]) {
    assert.equal(isUuid(bad), false, bad);
    assert.throws(() => uuidToBytes(bad), { code: "invalid_argument" }, bad);
  }
});

test("anything but 16 bytes is our own mistake", () => {
  assert.throws(() => uuidFromBytes(new Uint8Array(15)), { code: "internal" });
});

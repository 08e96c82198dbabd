import assert from "node:assert/strict";
import { test } from "node:test";
import { crc16 } from "./crc16.ts";

test("the check value of CRC-16/XMODEM", () => {
  assert.equal(crc16(new TextEncoder().encode("123456789")), 0x31c3);
  assert.equal(crc16(new Uint8Array()), 0);
});

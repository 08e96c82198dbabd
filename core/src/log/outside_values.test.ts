import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../encoding/hex.ts";
import {
  decodeImportTarget,
  decodeMemoryVerdict,
  encodeImportTarget,
  encodeMemoryVerdict,
  verdictSubjects,
} from "./outside_values.ts";

test("a verdict has its subject's place, whether it is a refusal, times and ids", () => {
  const id = new Uint8Array(16).fill(7);
  const bytes = encodeMemoryVerdict({ subject: "import", isAllowed: true, times: [1, 2], ids: [id] });
  const times = "000000020000000000000001" + "0000000000000002";
  assert.equal(toHex(bytes), `0a01${times}00000001${"07".repeat(16)}`);
  for (const subject of verdictSubjects) {
    const verdict = { subject, isAllowed: false, times: [], ids: [] };
    assert.deepEqual(decodeMemoryVerdict(encodeMemoryVerdict(verdict)), verdict);
  }
  const refused = { code: "invalid_argument" };
  assert.throws(() => decodeMemoryVerdict(Uint8Array.of(12, 1, 0, 0, 0, 0, 0, 0, 0, 0)), {
    ...refused,
    message: "malformed bytes: unknown subject of a verdict 12",
  });
  assert.throws(() => decodeMemoryVerdict(Uint8Array.of(...bytes, 0)), refused);
  assert.throws(() => encodeMemoryVerdict({ subject: "start", isAllowed: true, times: [1, 2, 3], ids: [] }), {
    code: "internal",
  });
});

test("the value of an import has the key that was drawn, if one was, and the page's digest", () => {
  const page = new Uint8Array(32).fill(1);
  const publicKey = new Uint8Array(65).fill(4);
  assert.equal(toHex(encodeImportTarget({ publicKey: undefined, page })), `00${"01".repeat(32)}`);
  const bytes = encodeImportTarget({ publicKey, page });
  assert.equal(toHex(bytes), `01${"04".repeat(65)}${"01".repeat(32)}`);
  assert.deepEqual(decodeImportTarget(bytes), { publicKey, page });
});

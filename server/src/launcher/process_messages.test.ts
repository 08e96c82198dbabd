import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCourierMessage, parseGatewayMessage, parseSignerMessage } from "./process_messages.ts";

const key = "0a".repeat(32);

test("the signer alone tells the courier key, and only a whole one is heard", () => {
  assert.deepEqual(parseSignerMessage({ kind: "courierKey", key }), {
    kind: "courierKey",
    key: Buffer.alloc(32, 10),
  });
  for (const bad of [undefined, "", key.slice(2), `${key}00`, key.toUpperCase(), 7, { length: 64 }]) {
    assert.equal(parseSignerMessage({ kind: "courierKey", key: bad }), undefined);
  }
  for (const parse of [parseGatewayMessage, parseCourierMessage]) {
    assert.equal(parse({ kind: "courierKey", key }), undefined);
  }
});

test("the gateway alone asks for a process, by a name that the table has", () => {
  const need = { kind: "need", process: "courier" };
  assert.deepEqual(parseGatewayMessage({ ...need, more: 1 }), need);
  for (const process of [undefined, "", "launcher", "constructor", ["courier"]]) {
    assert.equal(parseGatewayMessage({ kind: "need", process }), undefined);
  }
  for (const parse of [parseSignerMessage, parseCourierMessage]) assert.equal(parse(need), undefined);
});

test("the courier has words for the operator, without control characters, and nothing else", () => {
  for (const kind of ["note", "fatal"]) {
    assert.deepEqual(parseCourierMessage({ kind, message: "a\u001b[2Jb" }), { kind, message: "a [2Jb" });
    assert.equal(parseCourierMessage({ kind, message: 1 }), undefined);
  }
  for (const kind of ["ready", "renamed", "keys", "listening", "report", "silent"]) {
    assert.equal(parseCourierMessage({ kind, message: "m", publicKeys: { a: key }, port: 1, lines: [] }), undefined);
  }
});

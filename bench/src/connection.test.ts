import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnswer } from "./connection.ts";

const answer = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");

test("an answer counts once all of it is there, whatever the pieces", () => {
  for (let length = 0; length < answer.length; length++)
    assert.equal(readAnswer(answer.subarray(0, length)), undefined);
  assert.deepEqual(readAnswer(answer), { status: 200, body: Buffer.from("hello"), closes: true });
});

test("an answer other than 200 is told with its body", () => {
  const refusal = Buffer.from("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}");
  assert.deepEqual(readAnswer(refusal), { status: 401, body: Buffer.from("{}"), closes: false });
});

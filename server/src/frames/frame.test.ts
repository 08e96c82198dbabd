import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, encode, struct } from "@keystead/core/encoding/layout.ts";
import fc from "fast-check";
import { maxJournalEntries } from "../state/journal.ts";
import { maxFactsLength, maxStateLength, rootQuorumReserve } from "../state/pages.ts";
import { createFrameReader, encodeFrame, type Frame, maxFrameLength, protocolVersion, setWait } from "./frame.ts";

const blob = struct({ content: bytes });
const turn = { waitMs: 1_500, queue: new Uint8Array(16).fill(7) };

function frameOf(id: number, content: Uint8Array): Uint8Array {
  const frame = encodeFrame("prepare", id, blob, { content }, turn.queue);
  setWait(frame, turn.waitMs);
  return frame;
}

test("frames come out whole and in order, however the stream is cut", () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(contents, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (sent, cuts) => {
      const stream = Buffer.concat(sent.map((content, index) => frameOf(index, content)));
      const frames: Frame[] = [];
      const read = createFrameReader(({ turn: { waitMs, queue }, payload, ...frame }) => {
        frames.push({ ...frame, turn: { waitMs, queue: Uint8Array.from(queue) }, payload: Uint8Array.from(payload) });
      });
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const length = cuts[turn % cuts.length] ?? 1;
        read(stream.subarray(at, at + length));
        at += length;
      }
      assert.deepEqual(
        frames,
        sent.map((content, id) => ({ kind: "prepare", id, turn, payload: new Uint8Array(encode(blob, { content })) })),
      );
    }),
  );
});

test("another version, an unknown kind and an impossible length end the stream", () => {
  const altered = (at: number, value: number) => {
    const frame = Buffer.from(frameOf(1, new Uint8Array(4)));
    frame[at] = value;
    return () => createFrameReader(() => assert.fail("no frame"))(frame);
  };
  assert.throws(altered(4, protocolVersion + 1), { code: "invalid_argument", message: /frame version \d+ is not / });
  assert.throws(altered(5, 99), { code: "invalid_argument", message: /unknown frame kind 99/ });
  assert.throws(altered(0, 255), { code: "invalid_argument", message: /impossible length/ });
  const short = Buffer.from([0, 0, 0, 25, protocolVersion, 3, ...Array(24).fill(0)]);
  assert.throws(() => createFrameReader(() => assert.fail("no frame"))(short), /impossible length/);
});

test("a frame beyond the bound is not sent", () => {
  assert.throws(() => frameOf(1, new Uint8Array(maxFrameLength + 1)), { code: "resource_exhausted" });
});

test("everything that one decision can need at once goes into a frame: full pages, a full minute, bodies and records", () => {
  const keyFacts = 256 * maxFactsLength.rootQuorum;
  const journal = maxJournalEntries * 32;
  const bodies = 2 * 1024 * 1024;
  // Interfaces of two MiB, every character of them escaped, and a thousand keys.
  const records = 2 * 2 * 1024 * 1024 + 1_000 * 1_500;
  const needed = maxStateLength + rootQuorumReserve + keyFacts + journal + bodies + records;
  const left = maxFrameLength - needed;
  assert.ok(left > 10_000 * 200, `${left} bytes are left for headers`);
});

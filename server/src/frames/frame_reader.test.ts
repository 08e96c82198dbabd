import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, encode, struct } from "@keystead/core/encoding/layout.ts";
import fc from "fast-check";
import {
  encodeFrame,
  type Frame,
  headLength,
  longestFrame,
  partHead,
  partLength,
  protocolVersion,
  setWait,
} from "./frame.ts";
import { createFrameReader } from "./frame_reader.ts";

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

/** All parts of a frame, in their order. */
function partsOf(frame: Uint8Array): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < frame.length; from += partLength) {
    parts.push(Buffer.concat([partHead(frame, from), frame.subarray(from, from + partLength)]));
  }
  return parts;
}

const lengthOfContent = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: partLength - 40, max: partLength + 10 }),
  fc.integer({ min: 0, max: 4 * partLength }),
);

test("frames in parts come out whole, whatever comes between their parts and however the stream is cut", () => {
  const plans = fc.array(fc.record({ length: lengthOfContent, isCut: fc.boolean() }), { minLength: 1, maxLength: 5 });
  const turns = fc.infiniteStream(fc.nat());
  const cuts = fc.array(fc.integer({ min: 1, max: 2 * partLength }), { minLength: 1 });
  fc.assert(
    fc.property(plans, turns, cuts, (plan, turn, cut) => {
      const sent = plan.map(({ length }, id) => frameOf(id, new Uint8Array(length).fill(id + 1)));
      const left = plan.map(({ isCut }, id) => {
        const frame = sent[id] as Uint8Array;
        return isCut ? partsOf(frame) : [Buffer.from(frame)];
      });
      const mixed: Buffer[] = [];
      for (let open = left; open.length > 0; open = open.filter((parts) => parts.length > 0)) {
        mixed.push(open[turn.next().value % open.length]?.shift() as Buffer);
      }
      const frames = new Map<number, Uint8Array>();
      const read = createFrameReader(({ id, payload }) => frames.set(id, Uint8Array.from(payload)), {
        takesParts: true,
      });
      const stream = Buffer.concat(mixed);
      for (let at = 0, step = 0; at < stream.length; step++) {
        const length = cut[step % cut.length] as number;
        read(stream.subarray(at, at + length));
        at += length;
      }
      assert.equal(frames.size, sent.length);
      for (const [id, payload] of frames) assert.deepEqual(payload, sent[id]?.slice(headLength));
    }),
    { numRuns: 50 },
  );
});

test("parts that do not make up one frame end the stream", () => {
  const frame = frameOf(1, new Uint8Array(3 * partLength));
  const altered = (part: Uint8Array | undefined, at: number, value: number) => {
    const copy = Buffer.from(part as Uint8Array);
    copy.writeUInt32BE(value, at);
    return copy;
  };
  const [first, second, third, fourth] = partsOf(frame);
  const inner = altered(first, headLength, frame.length - 5);
  const endless = altered(first, 14, longestFrame + 1);
  const wrong: Record<string, (Buffer | undefined)[]> = {
    "one is missing": [first, third],
    "one comes twice": [first, first],
    "the first one is missing": [second],
    "the length of the whole changes": [first, altered(second, 14, frame.length + 1)],
    "the whole is longer than any frame": [endless],
    "one goes beyond the whole": [altered(first, 14, partLength - 1)],
    "the frame in them is shorter than they are": [inner, second, third, fourth],
    "they are shorter than a head": [altered(altered(first, 14, headLength - 1), 0, headLength - 4 + headLength - 1)],
    "one is empty": [altered(first, 0, headLength - 4).subarray(0, headLength)],
  };
  for (const [what, parts] of Object.entries(wrong)) {
    const read = createFrameReader(() => assert.fail(what), { takesParts: true });
    const stream = Buffer.concat(parts.map((part) => part as Buffer));
    assert.throws(() => read(stream), { code: "invalid_argument", message: /impossible length/ }, what);
  }
});

test("whoever takes no parts closes on them", () => {
  const [first] = partsOf(frameOf(1, new Uint8Array(3 * partLength)));
  const read = createFrameReader(() => assert.fail("no frame"));
  assert.throws(() => read(first as Buffer), { code: "invalid_argument", message: /unknown frame kind 254/ });
});

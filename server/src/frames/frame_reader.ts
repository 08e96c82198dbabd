/** Cuts a stream of bytes into frames. What is there as a whole is not copied; the rest is copied once, to where it belongs. */
import { Fault } from "@keystead/core/fault.ts";
import { type Frame, headLength, longestFrame, partIn, readFrame } from "./frame.ts";

/** Takes what the stream brings. A stream that breaks the layout is beyond repair: the caller closes it. */
export type FrameReader = (chunk: Uint8Array) => void;

/** `takesParts`: whether a frame may come in parts, and others between them. */
export function createFrameReader(onFrame: (frame: Frame) => void, { takesParts = false } = {}): FrameReader {
  const reader = new Reader(onFrame, takesParts ? new Parts(onFrame) : undefined);
  return (chunk) => reader.read(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
}

/** The rest of a frame, or of a part: where it goes, and what to do once it is there. */
type Rest = { into: Buffer; arrived(): void };

class Reader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #parts: Parts | undefined;
  /** Of a head, as long as it is not whole. */
  readonly #head = Buffer.alloc(headLength);
  #headAt = 0;
  #rest: Rest | undefined;

  constructor(onFrame: (frame: Frame) => void, parts: Parts | undefined) {
    this.#onFrame = onFrame;
    this.#parts = parts;
  }

  read(chunk: Buffer): void {
    let left = chunk;
    while (left.length > 0) left = this.#readOn(left);
  }

  /** What is left of the chunk. */
  #readOn(chunk: Buffer): Buffer {
    if (this.#rest !== undefined) return this.#fill(this.#rest, chunk);
    if (this.#headAt > 0 || chunk.length < headLength) return this.#readHead(chunk);
    const length = frameLengthIn(chunk);
    const isPart = this.#parts !== undefined && partIn(chunk) !== undefined;
    if (!isPart && chunk.length >= length) {
      this.#onFrame(readFrame(chunk.subarray(0, length)));
      return chunk.subarray(length);
    }
    this.#begin(chunk.subarray(0, headLength));
    return chunk.subarray(headLength);
  }

  #readHead(chunk: Buffer): Buffer {
    const taken = chunk.copy(this.#head, this.#headAt);
    this.#headAt += taken;
    if (this.#headAt === headLength) {
      this.#headAt = 0;
      this.#begin(this.#head);
    }
    return chunk.subarray(taken);
  }

  #begin(head: Buffer): void {
    const length = frameLengthIn(head);
    const part = this.#parts && partIn(head);
    if (this.#parts !== undefined && part !== undefined) this.#rest = this.#parts.begin(part, length - headLength);
    else {
      const frame = Buffer.allocUnsafe(length);
      head.copy(frame);
      this.#rest = { into: frame.subarray(headLength), arrived: () => this.#onFrame(readFrame(frame)) };
    }
    // One without content is there.
    if (this.#rest.into.length === 0) this.#fill(this.#rest, head.subarray(0, 0));
  }

  #fill({ into, arrived }: Rest, chunk: Buffer): Buffer {
    const taken = chunk.copy(into);
    this.#rest = taken < into.length ? { into: into.subarray(taken), arrived } : undefined;
    if (this.#rest === undefined) arrived();
    return chunk.subarray(taken);
  }
}

/** Frames that come in parts: each part where the one before it ended, and room for all of it from the first on. */
class Parts {
  readonly #onFrame: (frame: Frame) => void;
  readonly #frames = new Map<number, { frame: Buffer; at: number }>();

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  begin({ id, from, total }: { id: number; from: number; total: number }, length: number): Rest {
    if (total > longestFrame || length === 0) throw impossible();
    const begun = this.#frames.get(id) ?? { frame: Buffer.allocUnsafe(total), at: 0 };
    const { frame, at } = begun;
    if (from !== at || total !== frame.length || length > total - at) throw impossible();
    begun.at += length;
    this.#frames.set(id, begun);
    return {
      into: frame.subarray(from, from + length),
      arrived: () => {
        if (from + length < total) return;
        this.#frames.delete(id);
        if (total < headLength || frameLengthIn(frame) !== total) throw impossible();
        this.#onFrame(readFrame(frame));
      },
    };
  }
}

function frameLengthIn(head: Buffer): number {
  const length = 4 + head.readUInt32BE(0);
  if (length < headLength || length > longestFrame) throw impossible();
  return length;
}

function impossible(): Fault {
  return new Fault("invalid_argument", "a frame of impossible length");
}

/** Frames on the sockets between gateway and signer, and between gateway and courier. Layout: SPEC.md in this folder. */
import { encode, type Layout } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";

export const protocolVersion = 5;

/**
 * A frame's longest content: all that one decision can need at once. Pages, journals, bodies and records have bounds of their own, and a
 * test adds them up and lists what does not fit; headers that lead from an older pin have what is left.
 */
export const maxFrameLength = 60 * 1024 * 1024;

export const headLength = 30;

export const longestFrame = maxFrameLength + headLength;

export const frameKinds = {
  hello: 1,
  birth: 2,
  prepare: 3,
  release: 4,
  statement: 5,
  accept: 6,
  vouch: 7,
  reseal: 8,
  pins: 9,
  openBodies: 11,
  /** To the courier; the signer knows none of these, and the courier no other. */
  deliver: 10,
  issuer: 12,
  oauth2: 13,
  captcha: 14,
  /** Of the log. */
  logState: 15,
  openLog: 16,
  logTail: 17,
  takeIn: 18,
  checkpoint: 19,
  logStatement: 20,
  /** The leaf of this start, and its proof. */
  boot: 21,
  openProofs: 22,
  fault: 255,
} as const;

export type FrameKind = keyof typeof frameKinds;

const kindNames = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([name, number]) => [number, name as FrameKind]),
);

/**
 * How a request waits for its turn in the signer: for how many milliseconds its sender will still wait (0: as long as it takes), and the
 * 16 bytes that name its queue. Nothing is decided by it; a sender that lies about it is served later, or not at all.
 */
export type Turn = { waitMs: number; queue: Uint8Array };

/** Of what does not wait: replies, and requests that are answered at once. */
const noQueue: Uint8Array = new Uint8Array(16);

export type Frame = { kind: FrameKind; id: number; turn: Turn; payload: Uint8Array };

/** No frame carries this message. */
export class FrameTooLong extends Fault {
  constructor() {
    super("resource_exhausted", "a message to the signer is too long");
  }
}

/** length (4, of all that follows) ‖ version (1) ‖ kind (1) ‖ id (4) ‖ wait (4) ‖ queue (16) ‖ the message as its layout writes it. */
export function encodeFrame<T>(
  kind: FrameKind,
  id: number,
  layout: Layout<T>,
  message: T,
  queue = noQueue,
): Uint8Array {
  const bytes = encode(layout, message, headLength);
  if (bytes.length > longestFrame) throw new FrameTooLong();
  const head = new DataView(bytes.buffer, bytes.byteOffset, headLength);
  head.setUint32(0, bytes.length - 4);
  head.setUint8(4, protocolVersion);
  head.setUint8(5, frameKinds[kind]);
  head.setUint32(6, id);
  bytes.set(queue, 14);
  return bytes;
}

/** To be said when it is sent, which may be later than it was made. */
export function setWait(frame: Uint8Array, waitMs: number): void {
  new DataView(frame.buffer, frame.byteOffset, headLength).setUint32(10, Math.max(1, Math.ceil(waitMs)));
}

/** No kind of frame: what long answers of the signer travel in. */
const partKind = 254;

/** What a part of a frame holds of it. Others come between the parts of a long one, so that nobody waits for megabytes of somebody else's. */
export const partLength = 64 * 1024;

/** The head of the part of a frame that begins at `from`: id and version are the frame's, its wait and its queue say which part it is. */
export function partHead(frame: Uint8Array, from: number): Uint8Array {
  const bytes = frame.slice(0, headLength);
  const head = new DataView(bytes.buffer);
  head.setUint32(0, headLength - 4 + Math.min(partLength, frame.length - from));
  head.setUint8(5, partKind);
  head.setUint32(10, from);
  bytes.set(noQueue, 14);
  head.setUint32(14, frame.length);
  return bytes;
}

/** Undefined where this is the head of a whole frame. `total`: the length of the frame that it is a part of. */
export function partIn(head: Buffer): { id: number; from: number; total: number } | undefined {
  if (head[4] !== protocolVersion || head[5] !== partKind) return undefined;
  return { id: head.readUInt32BE(6), from: head.readUInt32BE(10), total: head.readUInt32BE(14) };
}

export function readFrame(bytes: Buffer): Frame {
  if (bytes[4] !== protocolVersion) {
    throw new Fault("invalid_argument", `frame version ${bytes[4]} is not ${protocolVersion}`);
  }
  const kind = kindNames.get(bytes[5] ?? 0);
  if (kind === undefined) throw new Fault("invalid_argument", `unknown frame kind ${bytes[5]}`);
  const turn = { waitMs: bytes.readUInt32BE(10), queue: bytes.subarray(14, headLength) };
  return { kind, id: bytes.readUInt32BE(6), turn, payload: bytes.subarray(headLength) };
}

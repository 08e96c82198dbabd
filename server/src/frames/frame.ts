/** Frames on the socket between gateway and signer. Layout: SPEC.md in this folder. */
import { encode, type Layout } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";

export const protocolVersion = 1;

/** A frame's longest content. Pages are bounded by limits, journals by their minute: this holds 4,000 fingerprints a second. */
export const maxFrameLength = 8 * 1024 * 1024;

const headLength = 10;

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
  fault: 255,
} as const;

export type FrameKind = keyof typeof frameKinds;

const kindNames = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([name, number]) => [number, name as FrameKind]),
);

export type Frame = { kind: FrameKind; id: number; payload: Uint8Array };

/** No frame carries this message. */
export class FrameTooLong extends Fault {
  constructor() {
    super("resource_exhausted", "a message to the signer is too long");
  }
}

/** length (4, of all that follows) ‖ version (1) ‖ kind (1) ‖ id (4) ‖ the message as its layout writes it. */
export function encodeFrame<T>(kind: FrameKind, id: number, layout: Layout<T>, message: T): Uint8Array {
  const bytes = encode(layout, message, headLength);
  if (bytes.length > headLength + maxFrameLength) {
    throw new FrameTooLong();
  }
  const head = new DataView(bytes.buffer, bytes.byteOffset, headLength);
  head.setUint32(0, bytes.length - 4);
  head.setUint8(4, protocolVersion);
  head.setUint8(5, frameKinds[kind]);
  head.setUint32(6, id);
  return bytes;
}

/** Cuts a stream of bytes into frames. A stream that breaks the layout is beyond repair: the caller closes it. */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Uint8Array) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const incoming = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    pending = pending.length === 0 ? incoming : Buffer.concat([pending, incoming]);
    while (pending.length >= headLength) {
      const length = pending.readUInt32BE(0);
      if (length < headLength - 4 || length > maxFrameLength + headLength) {
        throw new Fault("invalid_argument", "a frame of impossible length");
      }
      if (pending.length < 4 + length) return;
      if (pending[4] !== protocolVersion)
        throw new Fault("invalid_argument", `frame version ${pending[4]} is not ${protocolVersion}`);
      const kind = kindNames.get(pending[5] ?? 0);
      if (kind === undefined) throw new Fault("invalid_argument", `unknown frame kind ${pending[5]}`);
      const frame = { kind, id: pending.readUInt32BE(6), payload: pending.subarray(headLength, 4 + length) };
      pending = pending.subarray(4 + length);
      onFrame(frame);
    }
  };
}

/** Frames as bytes: bent, cut, confused. A new kind of frame is attacked once it has a sample here; without one this does not compile. */
import { decode, encode, type Layout } from "@keystead/core/encoding/layout.ts";
import { encodeFrame, type FrameKind, frameKinds, protocolVersion } from "../src/frames/frame.ts";
import { type MessageKind, messages } from "../src/frames/messages.ts";
import { type Aim, type Attack, honest, links, older, type Shot, seenOf } from "./hostile_material.ts";
import { offered } from "./hostile_run.ts";

/** Requests of every kind as an honest gateway sends them: what the bent ones are made from. */
export const samples = {
  hello: ({ run }) => ({ protocol: protocolVersion, keyring: run.keyring }),
  birth: () => ({}),
  prepare: (aim) => honest(aim, aim.want()),
  release: (aim) => ({
    rows: seenOf(aim)
      .rows.slice(0, 4)
      .map(({ leaf, sealed }) => ({ leaf, sealed })),
    links: [],
  }),
  statement: () => ({ page: 0 }),
  accept: (aim) => ({ headers: links(aim), last: true }),
  vouch: (aim) => ({
    leaves: seenOf(aim).rows.map(({ leaf }) => leaf),
    heads: links(aim),
    records: seenOf(aim).records.map(({ content, sealed }) => ({ content, sealed })),
    bodies: [],
  }),
  openBodies: ({ run }) => ({
    bodies: [{ organizationId: run.parentId, fingerprint: new Uint8Array(32), sealed: run.keyring }],
  }),
  reseal: (aim) => ({
    boxes: [
      ...seenOf(aim).records.map(({ content, sealed }) => ({ kind: "record", value: { content, sealed } })),
      { kind: "keyring", value: { sealed: aim.run.keyring } },
    ],
  }),
  pins: () => ({ page: 0 }),
  logState: () => ({}),
  openLog: (aim) => ({ state: offered(older(aim), links(aim)), checkpoints: [] }),
  logTail: () => ({ from: 0 }),
  takeIn: (aim) => ({ leaves: seenOf(aim).rows.map(({ leaf }) => leaf), last: false }),
  checkpoint: () => ({ size: 1 }),
  logStatement: (aim) => ({ organizationId: aim.run.parentId, first: offered(older(aim), links(aim)) }),
  openProofs: (aim) => ({ rows: seenOf(aim).rows.map(({ leaf }) => ({ leaf, proofs: leaf })) }),
  boot: () => ({}),
} as const satisfies { [K in MessageKind]: (aim: Aim) => unknown };

const kinds = Object.keys(samples) as MessageKind[];

let kindsTaken = 0;

/** One after the other, so that a short run meets all of them. */
function nextKind(): MessageKind {
  return kinds[kindsTaken++ % kinds.length] as MessageKind;
}

/** A frame of a sample, as bytes. */
function sampleFrame(aim: Aim, kind: MessageKind, id: number): Uint8Array {
  return encodeFrame(kind, id, messages[kind].request as Layout<unknown>, samples[kind](aim));
}

/** Far above those that well-formed frames count through. */
const rawId = ({ random }: Aim) => 0x8000_0000 + random.below(2 ** 30);

const headLength = 30;

function resized(frame: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(frame);
  new DataView(copy.buffer).setUint32(0, copy.length - 4);
  return copy;
}

export const frameAttacks = {
  "a bit of any frame's message": (aim) => {
    const kind = nextKind();
    const [id, as] = [rawId(aim), kind];
    const frame = Buffer.from(sampleFrame(aim, kind, id));
    const at = headLength + aim.random.below(Math.max(1, frame.length - headLength));
    if (at < frame.length) frame[at] = (frame[at] ?? 0) ^ (1 << aim.random.below(8));
    return [{ raw: frame, id, as }];
  },
  "a frame that is cut, or goes on": (aim) => {
    const kind = nextKind();
    const [id, as] = [rawId(aim), kind];
    const frame = sampleFrame(aim, kind, id);
    const cut = frame.subarray(0, headLength + aim.random.below(Math.max(1, frame.length - headLength)));
    return [
      { raw: resized(cut), id, as },
      { raw: resized(Buffer.concat([frame, Buffer.alloc(1 + aim.random.below(64))])), id, as },
    ];
  },
  "counts and lengths beyond all measure": (aim) => {
    const kind = nextKind();
    const [id, as] = [rawId(aim), kind];
    const frame = Buffer.from(sampleFrame(aim, kind, id));
    if (frame.length < headLength + 4) return [{ raw: frame, id, as }];
    const at = headLength + aim.random.below(frame.length - headLength - 3);
    frame.writeUInt32BE(aim.random.pick([0xffff_ffff, 0x7fff_ffff, 0x0080_0000, 0x1000]), at);
    return [{ raw: frame, id, as }];
  },
  "a message under another kind": (aim) => {
    const [id, as] = [rawId(aim), nextKind()];
    const frame = Buffer.from(sampleFrame(aim, aim.random.pick(kinds), id));
    frame[5] = frameKinds[as];
    return [{ raw: frame, id, as }];
  },
  "a fault, and a reply in place of a request": (aim) => {
    const id = rawId(aim);
    const frame = Buffer.from(sampleFrame(aim, "statement", id));
    frame[5] = frameKinds.fault satisfies (typeof frameKinds)[FrameKind];
    const exchange = aim.random.pick(aim.run.signer.recorded);
    const reply = encode(messages[exchange.kind].reply as Layout<unknown>, exchange.reply);
    const head = encodeFrame("pins", id + 1, messages.pins.request, { page: 0 }).subarray(0, headLength);
    const bytes = Buffer.concat([head, reply]);
    bytes[5] = frameKinds[exchange.kind];
    return [
      { raw: frame, id, as: "statement" },
      { raw: resized(bytes), id: id + 1, as: exchange.kind },
    ];
  },
  "one number for two frames": (aim) => {
    const [id, want] = [rawId(aim), aim.want()];
    const state = offered(older(aim), links(aim));
    const frames = [honest(aim, want), { ...honest(aim, want), state }].map((message) =>
      encodeFrame("prepare", id, messages.prepare.request, message),
    );
    return [{ raw: Buffer.concat(frames), id, as: "prepare", message: honest(aim, want) }];
  },
} as const satisfies Record<string, Attack>;

/** Frames that the stream does not survive, and after which the signer ends by itself. The launcher starts another. */
export const breakingAttacks = {
  "an impossible length": (aim) => broken(aim, (frame) => frame.writeUInt32BE(0xffff_ffff, 0)),
  "another version": (aim) => broken(aim, (frame) => frame.writeUInt8(protocolVersion + 1, 4)),
  "an unknown kind": (aim) => broken(aim, (frame) => frame.writeUInt8(77, 5)),
} as const satisfies Record<string, Attack>;

function broken(aim: Aim, change: (frame: Buffer) => void): Shot[] {
  const id = rawId(aim);
  const frame = Buffer.from(sampleFrame(aim, "statement", id));
  change(frame);
  return [{ raw: frame, id, as: "statement", breaks: true }];
}

/** The request of a raw frame, as far as it can be read: what the judge holds a reply against. */
export function messageIn({ raw, as }: Extract<Shot, { raw: Uint8Array }>): unknown {
  try {
    return decode(messages[as].request as Layout<unknown>, raw.subarray(headLength));
  } catch {
    return undefined;
  }
}

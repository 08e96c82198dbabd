/** Frames from a hostile gateway over a real socket: bent copies of a recorded valid run. The signer stays up and lets nothing out. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { decode, type Layout } from "@keystead/core/encoding/layout.ts";
import { samples } from "../../../core/test/samples.ts";
import { stampEvidence } from "../../test/evidence.ts";
import { createQuorum } from "../../test/quorum_rig.ts";
import { createTagBody, prepareOn, releaseRows, stampOf, stateAfter } from "../../test/signer_rig.ts";
import { encodeFrame, type Frame, protocolVersion } from "../frames/frame.ts";
import { createFrameReader } from "../frames/frame_reader.ts";
import { type MessageKind, messages, type Request } from "../frames/messages.ts";
import { serve } from "./serve.ts";

const rounds = samples.bentFrames;

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test(`${rounds} bent frames: nothing is approved that was not, and the signer goes on`, async (t) => {
  const quorum = createQuorum();
  const { rig } = quorum;
  // Votes: one that came, on what is over now, and one that was given for another activity than the one that waits.
  const ended = quorum.tagBody("ended");
  quorum.send("ann", ended);
  const counted = quorum.voteBody("approve", ended);
  quorum.send("bob", counted, { target: ended });
  const waiting = quorum.tagBody("waiting");
  quorum.send("ann", waiting);
  const nothingBrought = {
    subOrganizationId: undefined,
    records: [],
    wishes: [],
    pages: [],
    others: [],
    statements: [],
  };
  const votes = [
    { body: counted, evidence: stampEvidence(quorum.stamp("bob", counted)), target: ended },
    { body: counted, evidence: stampEvidence(quorum.stamp("bob", counted)), target: waiting },
    { body: waiting, evidence: stampEvidence(quorum.stamp("bob", ended)), target: undefined },
  ].map((vote) => ({ ...vote, ...nothingBrought, state: { ...quorum.state, links: [] }, journal: undefined }));
  const body = createTagBody(rig, "recorded");
  const row = prepareOn(rig, rig.born, body);
  releaseRows(rig, [row]);
  const newest = stateAfter(rig.born, row);
  const replayed = createTagBody(rig, "later");
  const recorded: { [K in MessageKind]: Request<K>[] } = {
    hello: [{ protocol: protocolVersion, keyring: rig.keyring }],
    birth: [{}],
    prepare: [
      {
        body,
        evidence: stampEvidence(stampOf(rig, body)),
        state: { ...rig.born, links: [] },
        journal: undefined,
        target: undefined,
        ...nothingBrought,
      },
      {
        body,
        evidence: stampEvidence(stampOf(rig, body)),
        state: { ...newest, links: [newest.header] },
        journal: undefined,
        target: undefined,
        ...nothingBrought,
      },
      {
        body: replayed,
        evidence: stampEvidence(stampOf(rig, body)),
        state: undefined,
        journal: undefined,
        target: undefined,
        ...nothingBrought,
      },
      ...votes,
    ],
    release: [{ rows: [{ leaf: row.leaf, sealed: undefined }], links: [newest.header] }],
    accept: [{ headers: [rig.born.header], last: true }],
    statement: [{ page: 0 }],
    openBodies: [
      {
        bodies: [
          { organizationId: rig.orders.birth.organizationId, fingerprint: new Uint8Array(32), sealed: row.leaf },
        ],
      },
    ],
    vouch: [
      {
        leaves: [row.leaf],
        heads: [newest.header],
        records: [{ content: row.leaf, sealed: row.leaf }],
        bodies: [
          { organizationId: rig.orders.birth.organizationId, fingerprint: new Uint8Array(32), sealed: row.leaf },
        ],
      },
    ],
    pins: [{ page: 0 }],
    logState: [{}],
    openLog: [{ state: { ...newest, links: [newest.header] }, checkpoints: [] }],
    logTail: [{ from: 0 }],
    takeIn: [{ leaves: [row.leaf], last: true }],
    checkpoint: [{ size: 1 }],
    logStatement: [{ organizationId: rig.orders.birth.organizationId, first: { ...newest, links: [newest.header] } }],
    openProofs: [{ rows: [{ leaf: row.leaf, proofs: row.leaf }] }],
    boot: [{}],
    reseal: [{ boxes: [{ kind: "keyring", value: { sealed: rig.keyring } }] }],
  };

  const path = join(mkdtempSync(join(tmpdir(), "keystead-serve-")), "socket");
  const notes: string[] = [];
  const server = createServer((socket) => serve(socket, rig.operations, (note) => notes.push(note))).listen(path);
  t.after(() => server.close());
  let replies: Frame[] = [];
  const open = (): Socket => {
    const socket = connect(path);
    const keep = (frame: Frame) => replies.push({ ...frame, payload: Uint8Array.from(frame.payload) });
    const read = createFrameReader(keep, { takesParts: true });
    socket.on("data", read).on("error", () => undefined);
    return socket;
  };

  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const kinds = Object.keys(recorded) as MessageKind[];
  const isAnswered = () => replies.some(({ id }) => id === 0xffffffff);
  let socket = open();
  const outcomes = { approved: 0, faults: 0, closed: 0, other: 0 };
  for (let round = 0; round < rounds; round++) {
    if (socket.destroyed) socket = open();
    const kind = pick(kinds);
    const frame = Buffer.from(
      encodeFrame(kind, round, messages[kind].request as Layout<unknown>, pick<unknown>(recorded[kind] ?? [])),
    );
    // Up to three bytes anywhere behind the length; now and then in it.
    for (let bends = 1 + Math.floor(random() * 3); bends > 0; bends--) {
      const from = random() < 0.03 ? 0 : 4;
      const at = from + Math.floor(random() * (frame.length - from));
      frame[at] = Math.floor(random() * 256);
    }
    replies = [];
    // A request nobody can mistake marks the end of this round, unless the frame before broke the stream.
    socket.write(Buffer.concat([frame, encodeFrame("statement", 0xffffffff, messages.statement.request, { page: 0 })]));
    for (let waited = 0; waited < 2_000 && !socket.destroyed && !isAnswered(); waited++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!isAnswered()) {
      outcomes.closed += 1;
      socket.destroy();
    }
    for (const { kind: replied, payload } of replies) {
      if (replied === "fault") outcomes.faults += 1;
      else if (replied === "prepare" && decode(messages.prepare.reply, payload).kind === "prepared")
        outcomes.approved += 1;
      else outcomes.other += 1;
    }
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(outcomes)}, ${notes.length} notes`);
  assert.equal(outcomes.approved, 0);
  // It is still there, and has neither forgotten nor accepted anything.
  assert.equal(rig.operations.hello({ protocol: protocolVersion, keyring: rig.keyring }).remembers, true);
  assert.throws(() => rig.operations.birth({}), { code: "failed_precondition" });
  assert.deepEqual(
    rig.memory.pins.get(Buffer.from(rig.orders.birth.organizationId.replaceAll("-", ""), "hex"))?.version,
    2,
  );
  socket.destroy();
});

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { stampEvidence } from "../../test/evidence.ts";
import { createSignerRig } from "../../test/signer_rig.ts";
import { encodeFrame, setWait } from "../frames/frame.ts";
import { createFrameReader } from "../frames/frame_reader.ts";
import { messages } from "../frames/messages.ts";
import { type ServeLimits, serve } from "./serve.ts";

/** A signer behind a socket whose other end is the test's. */
async function served(t: TestContext, limits?: ServeLimits) {
  const { operations } = createSignerRig();
  // A long answer, as a statement of many ranges is.
  operations.statement = () => ({ statement: new Uint8Array(256 * 1024), signature: new Uint8Array(64) });
  const path = join(mkdtempSync(join(tmpdir(), "keystead-serve-")), "socket");
  const server = createServer().listen(path);
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const gateway = connect(path);
  const socket = await accepted;
  serve(socket, operations, () => undefined, limits);
  t.after(() => {
    gateway.destroy();
    socket.destroy();
    server.close();
  });
  return { gateway, socket, operations };
}

test("a gateway that does not read is waited for by one listener, and then served in order", async (t) => {
  const { gateway, socket } = await served(t, oneMebibyte);
  const warnings: Error[] = [];
  process.on("warning", (warning) => warnings.push(warning));
  const ids: number[] = [];
  gateway.pause();
  const frames = Array.from({ length: 40 }, (_, id) =>
    encodeFrame("statement", id, messages.statement.request, { page: 0 }),
  );
  gateway.write(Buffer.concat(frames));
  while (!socket.isPaused()) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(socket.listenerCount("drain"), 1);
  gateway.on(
    "data",
    createFrameReader(({ id }) => ids.push(id), { takesParts: true }),
  );
  gateway.resume();
  while (ids.length < frames.length) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(
    ids,
    frames.map((_, id) => id),
  );
  assert.deepEqual(warnings, []);
});

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const oneMebibyte = { waitingBytes: 1024 * 1024, answerBytes: 1024 * 1024 };

/** A prepare of an organization, with a body of so many bytes, whose sender waits for so long; 0: for ever. */
function prepareOf(id: number, organization: number, length: number, waitMs = 0): Uint8Array {
  const nothing = { records: [], wishes: [], pages: [], others: [], statements: [] };
  const absent = { subOrganizationId: undefined, state: undefined, journal: undefined, target: undefined };
  const message = { body: new Uint8Array(length), evidence: stampEvidence(""), ...absent, ...nothing };
  const queue = new Uint8Array(16).fill(organization);
  const frame = encodeFrame("prepare", id, messages.prepare.request, message, queue);
  if (waitMs > 0) setWait(frame, waitMs);
  return frame;
}

const longPrepare = (id: number, waitMs = 0) => prepareOf(id, 0, 256 * 1024, waitMs);

test("no more is read than may wait for its turn, and all of it, a release behind it too, is answered once that is done", async (t) => {
  const { gateway, socket, operations } = await served(t, oneMebibyte);
  let [isHeld, begun] = [true, 0];
  t.after(() => {
    isHeld = false;
  });
  operations.preparing = function* () {
    begun += 1;
    while (isHeld) yield;
    return { kind: "again", value: [] };
  };
  const ids: number[] = [];
  gateway.on(
    "data",
    createFrameReader(({ id }) => ids.push(id), { takesParts: true }),
  );
  const prepares = Array.from({ length: 40 }, (_, id) => longPrepare(id));
  gateway.write(Buffer.concat(prepares));
  gateway.write(encodeFrame("release", 40, messages.release.request, { rows: [], links: [] }));
  await until(() => socket.isPaused());
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(socket.bytesRead < 2 * 1024 * 1024, `${socket.bytesRead}`);
  assert.equal(begun, 1);
  isHeld = false;
  await until(() => ids.length === 41);
  assert.deepEqual(
    ids.filter((id) => id < 40),
    prepares.map((_, id) => id),
  );
  assert.equal(begun, 40);
});

test("what nobody waits for any more makes room for what comes after it", async (t) => {
  const { gateway, operations } = await served(t, oneMebibyte);
  operations.preparing = function* () {
    for (;;) yield;
  };
  let answered = 0;
  gateway.on(
    "data",
    createFrameReader(() => {
      answered += 1;
    }),
  );
  for (let id = 0; id < 20; id++) gateway.write(longPrepare(id, 20));
  await until(() => answered === 20);
});

test("an organization's long answer holds up no other's, and its own come in their order", async (t) => {
  const { gateway, socket, operations } = await served(t, { ...oneMebibyte, answerBytes: 64 * 1024 * 1024 });
  const ofLength = (length: number) => ({ kind: "record" as const, value: { wish: "x".repeat(length) } });
  operations.preparing = function* ({ body }) {
    yield;
    return { kind: "again", value: [ofLength(body.length * 1024 * 1024)] };
  };
  const ids: number[] = [];
  gateway.pause();
  gateway.write(Buffer.concat([prepareOf(0, 1, 2), prepareOf(1, 1, 2), prepareOf(2, 1, 0)]));
  await until(() => socket.listenerCount("drain") === 1);
  const statement = encodeFrame("statement", 4, messages.statement.request, { page: 0 });
  gateway.write(Buffer.concat([prepareOf(3, 2, 0), statement]));
  gateway.on(
    "data",
    createFrameReader(({ id }) => ids.push(id), { takesParts: true }),
  );
  gateway.resume();
  await until(() => ids.length === 5);
  assert.deepEqual(ids.slice(0, 1), [3]);
  assert.ok(ids.indexOf(4) < ids.indexOf(0), `${ids}`);
  assert.deepEqual(
    ids.filter((id) => id < 3),
    [0, 1, 2],
  );
});

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createSignerRig } from "../../test/signer_rig.ts";
import { createFrameReader, encodeFrame } from "../frames/frame.ts";
import { messages } from "../frames/messages.ts";
import { serve } from "./serve.ts";

/** A signer behind a socket whose other end is the test's. */
async function served(t: TestContext) {
  const { operations } = createSignerRig();
  // A long answer, as a statement of many ranges is.
  operations.statement = () => ({ statement: new Uint8Array(256 * 1024), signature: new Uint8Array(64) });
  const path = join(mkdtempSync(join(tmpdir(), "keystead-serve-")), "socket");
  const server = createServer().listen(path);
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const gateway = connect(path);
  const socket = await accepted;
  serve(socket, operations, () => undefined);
  t.after(() => {
    gateway.destroy();
    socket.destroy();
    server.close();
  });
  return { gateway, socket };
}

test("a gateway that does not read is waited for by one listener, and then served in order", async (t) => {
  const { gateway, socket } = await served(t);
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
    createFrameReader(({ id }) => ids.push(id)),
  );
  gateway.resume();
  while (ids.length < frames.length) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(
    ids,
    frames.map((_, id) => id),
  );
  assert.deepEqual(warnings, []);
});

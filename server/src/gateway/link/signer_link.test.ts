import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { patienceMs } from "../../../../core/test/patience.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import { encodeFrame, type Frame, partHead, partLength, protocolVersion } from "../../frames/frame.ts";
import { createFrameReader } from "../../frames/frame_reader.ts";
import { messages } from "../../frames/messages.ts";
import { createSignerLink, type LinkLimits } from "./signer_link.ts";

const limits: LinkLimits = { deadlineMs: 200, maxWaiting: 8, maxQueuedBytes: 1024 * 1024, silenceMs: 600 };
/** For tests in which nobody may be late. */
const unhurried: Partial<LinkLimits> = { deadlineMs: patienceMs };

/** A link whose signer is played by the test. */
async function joined(t: TestContext, changes: Partial<LinkLimits> = {}) {
  const path = join(mkdtempSync(join(tmpdir(), "keystead-link-")), "socket");
  const server = createServer().listen(path);
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const events: string[] = [];
  const link = createSignerLink(
    { onDown: () => events.push("down"), onSilent: () => events.push("silent") },
    { ...limits, ...changes },
  );
  link.attach(connect(path));
  const signer = await accepted;
  t.after(() => {
    link.close();
    signer.destroy();
    server.close();
  });
  const frames: Frame[] = [];
  signer.on(
    "data",
    createFrameReader((frame) => frames.push({ ...frame, payload: Uint8Array.from(frame.payload) })),
  );
  const answer = (id: number): boolean =>
    signer.write(encodeFrame("hello", id, messages.hello.reply, { remembers: true, publicKeys: "{}" }));
  return { link, signer, frames, events, answer };
}

const hello = { protocol: protocolVersion, keyring: undefined };
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test("answers find their requests in whatever order they come", async (t) => {
  const { link, frames, answer } = await joined(t, unhurried);
  const requests = [link.request("hello", hello), link.request("hello", hello), link.request("hello", hello)];
  await until(() => frames.length === 3);
  for (const { id } of frames.toReversed()) answer(id);
  assert.equal((await Promise.all(requests)).length, 3);
});

/** An answer to `hello` of some 200 KiB, in parts. */
function longAnswer(id: number): { publicKeys: string; parts: Buffer[] } {
  const publicKeys = "k".repeat(200 * 1024);
  const frame = encodeFrame("hello", id, messages.hello.reply, { remembers: true, publicKeys });
  const parts = Array.from({ length: Math.ceil(frame.length / partLength) }, (_, index) => {
    const from = index * partLength;
    return Buffer.concat([partHead(frame, from), frame.subarray(from, from + partLength)]);
  });
  return { publicKeys, parts };
}

test("a short answer passes between the parts of a long one, and both find their requests", async (t) => {
  const { link, signer, frames, answer } = await joined(t, unhurried);
  const order: string[] = [];
  const long = link.request("hello", hello).finally(() => order.push("long"));
  const short = link.request("hello", hello).finally(() => order.push("short"));
  await until(() => frames.length === 2);
  const { publicKeys, parts } = longAnswer(frames[0]?.id ?? 0);
  const [first, ...others] = parts;
  signer.write(first ?? assert.fail());
  answer(frames[1]?.id ?? 0);
  signer.write(Buffer.concat(others));
  assert.deepEqual(await long, { remembers: true, publicKeys });
  assert.deepEqual(await short, { remembers: true, publicKeys: "{}" });
  assert.deepEqual(order, ["short", "long"]);
});

test("parts that do not fit close the socket, and a signer that ends between two parts answers nothing", async (t) => {
  for (const isMissing of [true, false]) {
    const { link, signer, frames, events } = await joined(t, unhurried);
    // The other end is closed while this one still writes.
    signer.on("error", () => undefined);
    const request = link.request("hello", hello);
    await until(() => frames.length === 1);
    const [first, , third] = longAnswer(frames[0]?.id ?? 0).parts;
    signer.write(first ?? assert.fail());
    if (isMissing) signer.write(third ?? assert.fail());
    else signer.destroy();
    await assert.rejects(request, { code: "unavailable", message: /the signer stopped/ });
    assert.deepEqual(events, ["down"]);
  }
});

test("a request that is not answered in time is refused, and its late answer is dropped", async (t) => {
  const { link, signer, frames, answer } = await joined(t);
  const late = { code: "unavailable", message: /did not answer in time/ };
  do await assert.rejects(link.request("hello", hello), late);
  while (frames.length === 0);
  answer(frames[0]?.id ?? 0);
  signer.on(
    "data",
    createFrameReader(({ id }) => answer(id)),
  );
  // On a busy machine other answers are late, too.
  let reply: unknown;
  while (reply === undefined) {
    const request = link.request("hello", hello);
    reply = await request.catch((fault) => assert.match(fault.message, late.message));
  }
  assert.deepEqual(reply, { remembers: true, publicKeys: "{}" });
});

test("no more requests wait than the bound allows", async (t) => {
  const { link } = await joined(t);
  const waiting = Array.from({ length: 8 }, () => link.request("hello", hello).catch((fault) => fault));
  await assert.rejects(link.request("hello", hello), { code: "unavailable", message: /busy/ });
  for (const fault of await Promise.all(waiting)) assert.equal(fault.code, "unavailable");
});

test("a signer that does not read costs bounded memory: what waits is counted and dropped with its deadline", async (t) => {
  const { link, signer } = await joined(t, { maxWaiting: 1_000 });
  signer.pause();
  const body = new Uint8Array(256 * 1024);
  const send = () =>
    link
      .request("prepare", {
        body,
        evidence: stampEvidence(""),
        subOrganizationId: undefined,
        state: undefined,
        journal: undefined,
        target: undefined,
        records: [],
        wishes: [],
        pages: [],
        others: [],
        statements: [],
      })
      .catch((fault) => fault.message);
  const first = await Promise.all(Array.from({ length: 40 }, send));
  assert.ok(
    first.some((message) => /busy/.test(message)),
    "the byte bound refuses",
  );
  assert.ok(first.some((message) => /in time/.test(message)));
  // The deadlines have passed, so their frames are gone and others may wait in their place.
  const later = await Promise.all([send(), send()]);
  assert.ok(later.every((message) => /in time/.test(message)));
});

test("a signer that stays silent is reported, so that it can be replaced", async (t) => {
  const { link, events } = await joined(t);
  while (!events.includes("silent")) await link.request("hello", hello).catch(() => undefined);
  assert.ok(!events.includes("down"));
});

test("a socket that closes, or breaks the layout, fails what waits at once and everything after", async (t) => {
  for (const end of [
    (signer: Socket) => signer.destroy(),
    (signer: Socket) => signer.write(new Uint8Array(64).fill(255)),
  ]) {
    const { link, signer, events } = await joined(t, unhurried);
    const request = link.request("hello", hello);
    end(signer);
    await assert.rejects(request, { code: "unavailable" });
    assert.deepEqual(events, ["down"]);
    await assert.rejects(link.request("hello", hello), { message: /not running/ });
  }
});

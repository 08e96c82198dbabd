/** Lanes of large bodies, without a server around them. */
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { patienceMs } from "../../../../core/test/patience.ts";
import { type BodyWork, type BodyWorkLimits, createBodyWork, strangerAt, tooManyLarge } from "./body_work.ts";
import { newConnection } from "./connection.ts";

const largeBytes = 64 * 1024;

const limits: BodyWorkLimits = {
  largeBytes,
  lanes: {
    inFlight: 1,
    cost: Number.POSITIVE_INFINITY,
    allInFlight: 10,
    allCost: Number.POSITIVE_INFINITY,
    allBytes: 10_000_000,
    allReplies: Number.POSITIVE_INFINITY,
    waiting: 16,
    waitingBytes: 10_000_000,
    waitMs: 60_000,
  },
  bodiesBytes: 10_000_000,
};

/** A large body of this organization: where it stands, and what its connection does next. */
function arrive(work: BodyWork, organizationId: string | undefined, { userId = "ann", isRead = true } = {}) {
  const connection = newConnection(new Socket());
  const arrival = {
    state: "waits",
    isOpen: true,
    bodyIsRead: () => work.bodyIsRead(connection),
    end: () => work.end(connection),
    close() {
      arrival.isOpen = false;
      connection.socket.destroy();
      work.end(connection);
    },
  };
  const owner = organizationId === undefined ? undefined : { organizationId, userId };
  const turn = work.begin(
    connection,
    largeBytes,
    () => arrival.isOpen,
    async () => owner,
  );
  assert.ok(turn);
  turn.then(
    () => {
      arrival.state = "works";
      if (isRead) work.bodyIsRead(connection);
    },
    (error: unknown) => (arrival.state = error instanceof Fault ? `${error.code}: ${error.message}` : String(error)),
  );
  return arrival;
}

const refused = `resource_exhausted: ${tooManyLarge}`;
const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

async function until(isSo: () => boolean): Promise<void> {
  const endsAt = Date.now() + patienceMs;
  for (; !isSo(); await soon()) assert.ok(Date.now() < endsAt, "it takes too long");
}

test("large bodies of one organization do not keep out those of another, nor do those of strangers", async () => {
  const work = createBodyWork(limits);
  const flood = Array.from({ length: 40 }, () => arrive(work, "flooder"));
  const strangers = Array.from({ length: 40 }, () => arrive(work, undefined));
  // One is worked on and stays so, sixteen wait, and the rest hear it at once.
  const expected = ["works", ...Array(16).fill("waits"), ...Array(23).fill(refused)];
  await until(() => flood[0]?.state === "works" && strangers[0]?.state === "works");
  for (const each of [flood, strangers])
    assert.deepEqual(
      each.map(({ state }) => state),
      expected,
    );
  const honest = arrive(work, "neighbour");
  await until(() => honest.state === "works");
  for (const each of [flood, strangers])
    assert.deepEqual(
      each.map(({ state }) => state),
      expected,
    );
});

test("large bodies are read one at a time, whoever's they are, with a pause in between", async (t) => {
  const work = createBodyWork(limits);
  const first = arrive(work, "a", { isRead: false });
  const second = arrive(work, "b");
  await until(() => first.state === "works");
  await soon();
  assert.equal(second.state, "waits");
  const now = performance.now();
  const clock = t.mock.method(performance, "now", () => now + 50);
  first.bodyIsRead();
  clock.mock.restore();
  await soon();
  assert.equal(second.state, "waits");
  await until(() => second.state === "works");
  assert.ok(performance.now() - now >= 3 * 50 - 1);
  assert.equal(first.state, "works", "it may take as long as it likes for the rest");
});

test("callers of one organization take turns, and one large request is worked on until it is answered", async () => {
  const work = createBodyWork(limits);
  const flood = Array.from({ length: 17 }, () => arrive(work, "a", { userId: "mallory" }));
  await until(() => flood[0]?.state === "works");
  const honest = arrive(work, "a", { userId: "bob" });
  await soon();
  assert.deepEqual([flood[1]?.state, honest.state], ["waits", "waits"]);
  assert.equal(flood[16]?.state, refused, "who has most that waits gives way");
  flood[0]?.end();
  await until(() => flood[1]?.state === "works" || honest.state === "works");
  if (honest.state === "waits") flood[1]?.end();
  await until(() => honest.state === "works");
  assert.equal(flood[2]?.state, "waits");
});

test("strangers take turns by their addresses, and who fills their lane gives way to another", async () => {
  const work = createBodyWork(limits);
  const from = (address: string) => {
    const { organizationId, userId } = strangerAt(address);
    return arrive(work, organizationId, { userId });
  };
  const flood = Array.from({ length: 17 }, () => from("10.0.0.1"));
  await until(() => flood[0]?.state === "works");
  assert.deepEqual(new Set(flood.map(({ state }) => state)), new Set(["works", "waits"]));
  const more = from("10.0.0.1");
  const other = from("10.0.0.2");
  await until(() => more.state !== "waits" && flood.some(({ state }) => state === refused));
  assert.equal(more.state, refused);
  assert.equal(other.state, "waits");
  assert.equal(flood.filter(({ state }) => state === refused).length, 1);
});

test("who has waited too long is refused, and who is gone gives its place to another", async () => {
  const work = createBodyWork({ ...limits, lanes: { ...limits.lanes, waiting: 1, waitMs: 200 } });
  const first = arrive(work, "a");
  await until(() => first.state === "works");
  const gone = arrive(work, "a");
  await soon();
  gone.close();
  const late = arrive(work, "a");
  await soon();
  assert.deepEqual([gone.state, late.state], ["cancelled: the connection was closed", "waits"]);
  await until(() => late.state === refused);
  assert.equal(work.bytes(), 2 * largeBytes, "until it is answered");
  late.end();
  assert.equal(work.bytes(), largeBytes);
});

test("one that is closed in the moment of its turn gives it back", async () => {
  const work = createBodyWork(limits);
  const first = arrive(work, "a");
  first.close();
  const second = arrive(work, "a");
  await until(() => second.state === "works");
  assert.equal(first.state, "cancelled: the connection was closed");
  assert.equal(work.bytes(), largeBytes);
});

/**
 * Connections that each follow a course of their own: requests, one after the other, where a later one may need what an earlier one was
 * answered. What a flood makes it can so take away again, and goes on for as long as it likes.
 */
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Answer as WireAnswer } from "../wire.ts";
import { type Assault, keepOpen, type Tally, type Target } from "./attack.ts";
import { stampedBy } from "./prepared.ts";

export type Json = WireAnswer["json"];

export type Request = { path: string; body: Uint8Array; by: Target };

/** Read only where a course looks at it: some are megabytes long. */
export type Answer = { status: number; json(): Json };

/** The server ends a connection after a number of requests, and says so. */
type LastAnswer = Answer & { isLast: boolean };

/** Is told what its last request was answered. One that ends begins anew. */
export type Course = AsyncGenerator<Request, void, Answer>;

/**
 * The organization's own requests stand in each other's way: the same bytes are sent again, and nothing is signed for it. Not at once: this
 * attack wants its work done, and one that only has its bytes read is another.
 */
const isLate = (status: number) => status === 429 || status === 503;

/** What `courseOf` does on so many connections. A connection that the server ends is opened again, and its course goes on. */
export function runLanes(assault: Assault, count: number, courseOf: (index: number) => Course, retryMs = 20): void {
  const free = Array.from({ length: count }, (_, index) => startLane(() => courseOf(index), assault, retryMs));
  keepOpen(
    assault,
    count,
    (socket) => {
      const lane = free.shift();
      if (lane === undefined) return;
      socket.on("close", () => free.push(lane));
      lane(socket);
    },
    [10, 50],
  );
}

function startLane(courseOf: () => Course, { isOver, tally }: Assault, retryMs: number): (socket: Socket) => void {
  let course = courseOf();
  let pending: Buffer | undefined;

  async function next(answer?: Answer): Promise<Buffer> {
    const step = await (answer === undefined ? course.next() : course.next(answer));
    if (step.done !== true) return stampedBy(step.value.by, step.value.path, step.value.body);
    course = courseOf();
    return next();
  }

  async function after(answer: Answer): Promise<void> {
    if (answer.status === 200) {
      pending = await next(answer);
      return;
    }
    note(tally.said, answer);
    if (isLate(answer.status)) {
      await pause(retryMs);
      return;
    }
    course = courseOf();
    pending = await next();
  }

  return (socket) => {
    const ask = async (): Promise<void> => {
      pending ??= await next();
      if (!isOver() && socket.writable) socket.write(pending);
    };
    readAnswers(socket, async (answer) => {
      await after(answer);
      if (answer.isLast) socket.end();
      else await ask();
    });
    void ask();
  };
}

const mostSaid = 8;

/** The first few reasons for refusals. Ids tell one from another, and mean nothing to who reads it. */
function note(said: Tally["said"], { status, json }: Answer): void {
  const why = `${status} ${json()?.message ?? ""}`.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…");
  if (why in said || Object.keys(said).length < mostSaid) said[why] = (said[why] ?? 0) + 1;
}

/** Answers one after the other, which is how they come: none is asked for before the last is there. */
function readAnswers(socket: Socket, answered: (answer: LastAnswer) => void): void {
  let chunks: Buffer[] = [];
  let length = 0;
  let expected: Head | undefined;
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    expected ??= readHead(Buffer.concat(chunks));
    if (expected === undefined || length < expected.whole) return;
    const { status, head, isLast } = expected;
    const bytes = chunks;
    [chunks, length, expected] = [[], 0, undefined];
    answered({ status, isLast, json: () => parsed(Buffer.concat(bytes).subarray(head)) });
  });
}

type Head = { status: number; head: number; whole: number; isLast: boolean };

function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const text = bytes.toString("latin1", 0, end);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
  const isLast = /\r\nconnection: *close/i.test(text);
  return { status: Number(text.slice(9, 12)), head: end + 4, whole: end + 4 + length, isLast };
}

/** What is no JSON says nothing. */
function parsed(body: Buffer): Json {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

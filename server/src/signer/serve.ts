/**
 * The signer's end of the socket: frames in, frames out. Preparing takes its time and its turn (scheduler.ts); everything else is
 * answered as it is read, so that releases keep their order and wait for no one's work.
 */
import type { Socket } from "node:net";
import { decode, type Layout, type ValueOf } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Work } from "@keystead/core/work.ts";
import { encodeFrame, type Frame, type FrameKind } from "../frames/frame.ts";
import { createFrameReader } from "../frames/frame_reader.ts";
import { faultMessage, type MessageKind, messages } from "../frames/messages.ts";
import { digestKey } from "../state/digest.ts";
import { Answers } from "./answers.ts";
import type { Operations } from "./operations.ts";
import { createScheduler } from "./scheduler.ts";

/** The line of what is answered as it is read. Organizations have lines of their own. */
const atOnce = "";

/**
 * What may wait for its turn, in bytes of frames, the states that come along included; one frame more may be read. A gateway lets in half
 * of it at most, so that its releases never wait behind this.
 */
const maxWaitingBytes = 64 * 1024 * 1024;

/** What the gateway has not taken yet, in bytes of frames, and one answer more. A gateway keeps room for half of it at most. */
const maxAnswerBytes = 64 * 1024 * 1024;

export type ServeLimits = { waitingBytes: number; answerBytes: number };

export function serve(
  socket: Socket,
  operations: Operations,
  note: (message: string) => void,
  limits: ServeLimits = { waitingBytes: maxWaitingBytes, answerBytes: maxAnswerBytes },
): void {
  const answers = new Answers(socket, goOn);
  const scheduler = createScheduler(() => answers.flush());
  let isFull = false;
  let waitingBytes = 0;

  function send(line: string, frame: Uint8Array): void {
    answers.add(line, frame);
    if (isFull || answers.waitingBytes <= limits.answerBytes) return;
    // The gateway reads too slowly: nothing more is taken from it, or done for it, until it has.
    isFull = true;
    readOrPause();
    scheduler.hold();
  }

  function goOn(): void {
    if (!isFull || answers.waitingBytes > limits.answerBytes) return;
    isFull = false;
    readOrPause();
    scheduler.goOn();
  }

  /** What waits is worked on meanwhile, and none of it waits for a frame that is still to be read: reading always goes on. */
  function readOrPause(): void {
    const isPaused = isFull || waitingBytes > limits.waitingBytes;
    if (isPaused === socket.isPaused()) return;
    if (isPaused) socket.pause();
    else socket.resume();
  }

  /** Counts a frame from now until the function that this returns is first called. */
  function hold({ length }: Uint8Array): () => void {
    waitingBytes += length;
    readOrPause();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      waitingBytes -= length;
      readOrPause();
    };
  }

  function fail(line: string, id: number, error: unknown): void {
    send(line, encodeFrame("fault", id, faultMessage, describe(error, note)));
  }

  const read = createFrameReader((frame) => {
    const { kind, id, turn, payload } = frame;
    if (kind === "prepare") {
      const letGo = hold(payload);
      const line = digestKey(turn.queue);
      scheduler.add(line, {
        work: preparing(line, frame, letGo),
        expiresAt: turn.waitMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + turn.waitMs,
        fail: (error) => fail(line, id, error),
        dropped() {
          // One that was never begun has no `finally` to run.
          letGo();
          fail(line, id, new Fault("unavailable", "the request waited too long for its turn; try again"));
        },
      });
      return;
    }
    try {
      if (!isSignerKind(kind)) throw new Fault("invalid_argument", `a signer takes no ${kind}`);
      send(atOnce, answer(operations, kind, id, payload));
    } catch (error) {
      fail(atOnce, id, error);
    }
    setImmediate(() => answers.flush());
  });

  function* preparing(line: string, { id, payload }: Frame, letGo: () => void): Work<void> {
    const { request, reply } = messages.prepare;
    try {
      send(line, encodeFrame("prepare", id, reply, yield* operations.preparing(decode(request, payload))));
    } finally {
      letGo();
    }
  }

  socket.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      note(`closing the gateway's socket: ${error instanceof Error ? error.message : error}`);
      socket.destroy();
    }
  });
}

function isSignerKind(kind: FrameKind): kind is MessageKind {
  return Object.hasOwn(messages, kind);
}

function answer(operations: Operations, kind: MessageKind, id: number, payload: Uint8Array): Uint8Array {
  const { request, reply } = messages[kind] as { request: Layout<unknown>; reply: Layout<unknown> };
  const operation = operations[kind] as (value: unknown) => unknown;
  return encodeFrame(kind, id, reply, operation(decode(request, payload)));
}

function describe(error: unknown, note: (message: string) => void): ValueOf<typeof faultMessage> {
  if (error instanceof Fault && error.code !== "internal") {
    const { code, message, errorCode, details } = error;
    return { code, message, errorCode, details: JSON.stringify(details) };
  }
  note(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  return { code: "internal", message: "internal error in the signer", errorCode: "", details: "[]" };
}

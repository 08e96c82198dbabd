/**
 * The gateway's end of the socket to the courier. It carries boxes that it cannot open, and statements that it cannot make. While there is
 * no courier nothing is asked; when one ends, whatever it had not answered counts as not done and is tried again, so a message may arrive
 * twice and never not at all.
 */
import type { Socket } from "node:net";
import { decode } from "@keystead/core/encoding/layout.ts";
import {
  type CourierMessageKind,
  type CourierReply,
  type CourierRequest,
  courierLayouts,
  type Delivered,
  type DeliverRequest,
} from "../../frames/courier_messages.ts";
import { deliveryDeadlineMs } from "../../frames/delivery_times.ts";
import { encodeFrame, type Frame } from "../../frames/frame.ts";
import { createFrameReader } from "../../frames/frame_reader.ts";

export type CourierLink = {
  isJoined(): boolean;
  /** Resolves with the next courier that joins, or at once if there is one. */
  whenJoined(): Promise<void>;
  /** Never rejects: that the courier is away is an outcome too. */
  deliver(message: DeliverRequest): Promise<Delivered>;
  /** Undefined when there is no courier, it ended, or it did not answer in time. */
  request<K extends CourierMessageKind>(
    kind: K,
    message: CourierRequest<K>,
    deadlineMs: number,
  ): Promise<CourierReply<K> | undefined>;
  /** Joins a new courier; the one before, if any, is let go. */
  attach(socket: Socket): void;
  close(): void;
};

const away: Delivered = { kind: "failed", value: { error: "courier", isFinal: false } };
const invalid: Delivered = { kind: "failed", value: { error: "invalid", isFinal: true } };
/** Longer than any box. A row may have been changed to what no frame carries. */
const longestBox = 64 * 1024;

type Waiting = { kind: CourierMessageKind; answer(payload: Uint8Array | undefined): void };

export function createCourierLink(deadlineMs = deliveryDeadlineMs): CourierLink {
  const waiting = new Map<number, Waiting>();
  let current: Socket | undefined;
  let joined = Promise.withResolvers<void>();
  let lastId = 0;

  function answerAll(): void {
    for (const { answer } of waiting.values()) answer(undefined);
  }

  function onFrame({ kind, id, payload }: Frame): void {
    const asked = waiting.get(id);
    if (asked !== undefined && kind === asked.kind) asked.answer(payload);
  }

  function leave(): void {
    current = undefined;
    joined = Promise.withResolvers();
    answerAll();
  }

  function lose(socket: Socket): void {
    socket.destroy();
    if (socket === current) leave();
  }

  function request<K extends CourierMessageKind>(
    kind: K,
    message: CourierRequest<K>,
    timeMs: number,
  ): Promise<CourierReply<K> | undefined> {
    const socket = current;
    if (socket === undefined) return Promise.resolve(undefined);
    const layouts = courierLayouts(kind);
    lastId = (lastId + 1) >>> 0;
    const id = lastId;
    return new Promise((resolve) => {
      const answer = (payload: Uint8Array | undefined) => {
        // One that cannot be read throws: its socket is closed for it, and that answers this.
        const reply = payload === undefined ? undefined : decode(layouts.reply, payload);
        clearTimeout(timer);
        waiting.delete(id);
        resolve(reply);
      };
      const timer = setTimeout(answer, timeMs, undefined);
      waiting.set(id, { kind, answer });
      socket.write(encodeFrame(kind, id, layouts.request, message));
    });
  }

  return {
    isJoined: () => current !== undefined,
    whenJoined: () => joined.promise,
    request,
    async deliver(message) {
      if (current !== undefined && Object.values(message).some(({ length }) => length > longestBox)) return invalid;
      return (await request("deliver", message, deadlineMs)) ?? away;
    },
    attach(socket) {
      const before = current;
      if (before !== undefined) leave();
      current = socket;
      before?.destroy();
      const read = createFrameReader(onFrame);
      socket.on("data", (chunk: Buffer) => {
        try {
          read(chunk);
        } catch {
          lose(socket);
        }
      });
      socket.on("error", () => lose(socket));
      socket.on("close", () => lose(socket));
      socket.resume();
      joined.resolve();
    },
    close() {
      const socket = current;
      leave();
      socket?.destroy();
    },
  };
}

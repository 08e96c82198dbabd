/**
 * The gateway's end of the socket to the courier. It carries boxes that it cannot open. While there is no courier nothing is sent; when
 * one ends, whatever it had not answered counts as not sent and is tried again, so a message may arrive twice and never not at all.
 */
import type { Socket } from "node:net";
import { decode } from "@keystead/core/encoding/layout.ts";
import { type Delivered, type DeliverRequest, deliverReply, deliverRequest } from "../../frames/courier_messages.ts";
import { deliveryDeadlineMs } from "../../frames/delivery_times.ts";
import { createFrameReader, encodeFrame, type Frame } from "../../frames/frame.ts";

export type CourierLink = {
  isJoined(): boolean;
  /** Never rejects: that the courier is away is an outcome too. */
  deliver(message: DeliverRequest): Promise<Delivered>;
  /** Joins a new courier; the one before, if any, is let go. */
  attach(socket: Socket): void;
  close(): void;
};

const away: Delivered = { kind: "failed", value: { error: "courier", isFinal: false } };
const invalid: Delivered = { kind: "failed", value: { error: "invalid", isFinal: true } };
/** Longer than any box. A row may have been changed to what no frame carries. */
const longestBox = 64 * 1024;

export function createCourierLink(deadlineMs = deliveryDeadlineMs): CourierLink {
  const waiting = new Map<number, (delivered: Delivered) => void>();
  let current: Socket | undefined;
  let lastId = 0;

  function answerAll(): void {
    for (const answer of waiting.values()) answer(away);
  }

  function onFrame({ kind, id, payload }: Frame): void {
    if (kind === "deliver") waiting.get(id)?.(decode(deliverReply, payload));
  }

  function lose(socket: Socket): void {
    socket.destroy();
    if (socket !== current) return;
    current = undefined;
    answerAll();
  }

  return {
    isJoined: () => current !== undefined,
    deliver(message) {
      const socket = current;
      if (socket === undefined) return Promise.resolve(away);
      if (Object.values(message).some(({ length }) => length > longestBox)) return Promise.resolve(invalid);
      lastId = (lastId + 1) >>> 0;
      const id = lastId;
      return new Promise((resolve) => {
        const answer = (delivered: Delivered) => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(delivered);
        };
        const timer = setTimeout(answer, deadlineMs, away);
        waiting.set(id, answer);
        socket.write(encodeFrame("deliver", id, deliverRequest, message));
      });
    },
    attach(socket) {
      const before = current;
      current = socket;
      before?.destroy();
      answerAll();
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
    },
    close() {
      const socket = current;
      current = undefined;
      socket?.destroy();
      answerAll();
    },
  };
}

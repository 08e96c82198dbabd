/** The courier's end of the socket: each request of the gateway is answered once, when its answer is known. */
import type { Socket } from "node:net";
import { decode } from "@keystead/core/encoding/layout.ts";
import {
  type CourierMessageKind,
  type CourierReply,
  type CourierRequest,
  courierLayouts,
  courierMessages,
} from "../frames/courier_messages.ts";
import { encodeFrame, type Frame, type FrameKind } from "../frames/frame.ts";
import { createFrameReader } from "../frames/frame_reader.ts";

/** What answers each kind of request. */
export type CourierHandlers = {
  readonly [K in CourierMessageKind]: (request: CourierRequest<K>) => Promise<CourierReply<K>>;
};

export function serveGateway(socket: Socket, handlers: CourierHandlers, onError: (error: unknown) => void): void {
  async function answerKind<K extends CourierMessageKind>(kind: K, { id, payload }: Frame): Promise<void> {
    const { request, reply } = courierLayouts(kind);
    socket.write(encodeFrame(kind, id, reply, await handlers[kind](decode(request, payload))));
  }

  async function answer(frame: Frame): Promise<void> {
    if (!isCourierKind(frame.kind)) throw new Error(`a courier takes no ${frame.kind}`);
    await answerKind(frame.kind, frame);
  }

  const read = createFrameReader((frame) => {
    answer(frame).catch((error: unknown) => {
      onError(error);
      socket.destroy();
    });
  });

  socket.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      onError(error);
      socket.destroy();
    }
  });
}

function isCourierKind(kind: FrameKind): kind is CourierMessageKind {
  return Object.hasOwn(courierMessages, kind);
}

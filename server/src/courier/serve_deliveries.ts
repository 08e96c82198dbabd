/** The courier's end of the socket: a sealed message in, what became of it out. */
import type { Socket } from "node:net";
import { decode } from "@keystead/core/encoding/layout.ts";
import { deliverReply, deliverRequest } from "../frames/courier_messages.ts";
import { createFrameReader, encodeFrame, type Frame } from "../frames/frame.ts";
import type { Courier } from "./courier.ts";

export function serveDeliveries(socket: Socket, courier: Courier, onError: (error: unknown) => void): void {
  async function answer({ kind, id, payload }: Frame): Promise<void> {
    if (kind !== "deliver") throw new Error(`a courier takes no ${kind}`);
    const delivered = await courier.deliver(decode(deliverRequest, payload));
    socket.write(encodeFrame("deliver", id, deliverReply, delivered));
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

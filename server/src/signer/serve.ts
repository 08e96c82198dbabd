/** The signer's end of the socket: frames in, frames out, in order, one at a time. */
import type { Socket } from "node:net";
import { decode, type Layout, type ValueOf } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import { createFrameReader, encodeFrame } from "../frames/frame.ts";
import { faultMessage, type MessageKind, messages } from "../frames/messages.ts";
import type { Operations } from "./operations.ts";

export function serve(socket: Socket, operations: Operations, note: (message: string) => void): void {
  let corked = false;

  function send(frame: Uint8Array): void {
    // Replies of one turn leave in one write.
    if (!corked) {
      corked = true;
      socket.cork();
      setImmediate(() => {
        corked = false;
        socket.uncork();
      });
    }
    if (!socket.write(frame)) {
      // The gateway reads too slowly: take no more from it until it has.
      socket.pause();
      socket.once("drain", () => socket.resume());
    }
  }

  const read = createFrameReader(({ kind, id, payload }) => {
    try {
      if (kind === "fault") throw new Fault("invalid_argument", "a gateway sends no faults");
      send(answer(operations, kind, id, payload));
    } catch (error) {
      send(encodeFrame("fault", id, faultMessage, describe(error, note)));
    }
  });

  socket.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      note(`closing the gateway's socket: ${error instanceof Error ? error.message : error}`);
      socket.destroy();
    }
  });
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

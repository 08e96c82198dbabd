/**
 * The gateway's end of the socket. Requests have a deadline, the queue is bounded, and while there is no signer every
 * request is refused at once: the caller gets a 503 and may send the same body again.
 */
import type { Socket } from "node:net";
import { decode, encode, type Layout } from "@keystead/core/encoding/layout.ts";
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import { createFrameReader, encodeFrame, type Frame } from "../frames/frame.ts";
import { faultMessage, type MessageKind, messages, type Reply, type Request } from "../frames/messages.ts";

export type SignerLink = {
  request<K extends MessageKind>(kind: K, message: Request<K>): Promise<Reply<K>>;
  /** Joins a new signer; the one before, if any, is let go. */
  attach(socket: Socket): void;
  close(): void;
};

type Waiting = { kind: MessageKind; deadline: number; resolve(payload: Uint8Array): void; reject(fault: Fault): void };

const deadlineMs = 5_000;
const maxWaiting = 1_024;

export function createSignerLink(onDown: () => void): SignerLink {
  const waiting = new Map<number, Waiting>();
  let socket: Socket | undefined;
  let nextId = 0;
  let held: Uint8Array[] = [];
  let corked = false;

  function failAll(why: string): void {
    const lost = [...waiting.values()];
    waiting.clear();
    held = [];
    for (const { reject } of lost) reject(new Fault("unavailable", why));
  }

  function onFrame({ kind, id, payload }: Frame): void {
    const request = waiting.get(id);
    if (request === undefined) return; // Its deadline has passed.
    waiting.delete(id);
    if (kind === "fault") {
      const { code, message, errorCode, details } = decode(faultMessage, payload);
      request.reject(new Fault(code as FaultCode, message, { errorCode, details: JSON.parse(details) }));
    } else request.resolve(payload);
  }

  function write(bytes: Uint8Array): void {
    if (socket === undefined || held.length > 0) {
      held.push(bytes);
      return;
    }
    // Requests of one turn leave in one write.
    if (!corked) {
      const current = socket;
      corked = true;
      current.cork();
      process.nextTick(() => {
        corked = false;
        current.uncork();
      });
    }
    if (!socket.write(bytes)) holdUntilDrained(socket);
  }

  /** The signer reads too slowly: what follows waits here, where it is counted, and not in the socket's buffer. */
  function holdUntilDrained(current: Socket): void {
    const marker = new Uint8Array(0);
    held.push(marker);
    current.once("drain", () => {
      if (current !== socket) return;
      const queued = held;
      held = [];
      for (const bytes of queued) if (bytes.length > 0) write(bytes);
    });
  }

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const [id, { deadline, reject }] of waiting) {
      if (deadline > now) break; // Requests expire in the order they were made.
      waiting.delete(id);
      reject(new Fault("unavailable", "the signer did not answer in time"));
    }
  }, 250);
  sweep.unref();

  return {
    request<K extends MessageKind>(kind: K, message: Request<K>): Promise<Reply<K>> {
      if (socket === undefined) return Promise.reject(new Fault("unavailable", "the signer is not running; try again"));
      if (waiting.size >= maxWaiting) return Promise.reject(new Fault("unavailable", "the signer is busy; try again"));
      const { request, reply } = messages[kind] as unknown as { request: Layout<Request<K>>; reply: Layout<Reply<K>> };
      const payload = encode(request, message);
      nextId = (nextId + 1) >>> 0;
      const id = nextId;
      const answered = new Promise<Uint8Array>((resolve, reject) => {
        waiting.set(id, { kind, deadline: performance.now() + deadlineMs, resolve, reject });
      });
      write(encodeFrame({ kind, id, payload }));
      return answered.then((bytes) => decode(reply, bytes));
    },
    attach(fresh) {
      if (socket === fresh) return;
      socket?.destroy();
      failAll("the signer was restarted; try again");
      socket = fresh;
      corked = false;
      const read = createFrameReader(onFrame);
      const lost = (): void => {
        if (socket !== fresh) return;
        socket = undefined;
        failAll("the signer stopped; try again");
        onDown();
      };
      fresh.on("data", (chunk: Buffer) => {
        try {
          read(chunk);
        } catch {
          fresh.destroy();
        }
      });
      fresh.on("error", lost);
      fresh.on("close", lost);
      fresh.resume();
    },
    close() {
      clearInterval(sweep);
      const current = socket;
      socket = undefined;
      current?.destroy();
      failAll("the gateway is stopping");
    },
  };
}

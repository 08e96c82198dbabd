/**
 * The gateway's end of the socket. Requests have a deadline, the queue is bounded, and while there is no signer every
 * request is refused at once: the caller gets a 503 and may send the same body again.
 */
import type { Socket } from "node:net";
import { decode, type Layout } from "@keystead/core/encoding/layout.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import { createFrameReader, encodeFrame, type Frame, setWait } from "../../frames/frame.ts";
import { faultMessage, type MessageKind, messages, type Reply, type Request } from "../../frames/messages.ts";
import { createInFlightRing } from "../bounds/in_flight_ring.ts";
import { memoryBounds } from "../bounds/memory_bounds.ts";

export type SignerLink = {
  request<K extends MessageKind>(kind: K, message: Request<K>, turn?: LinkTurn): Promise<Reply<K>>;
  /** How many prepares are under way: what they lead to will want to be committed soon. */
  preparing(): number;
  /** Of what the signer does not read yet. */
  queuedBytes(): number;
  /** Joins a new signer; the one before, if any, is let go. */
  attach(socket: Socket): void;
  close(): void;
};

/** The organization whose turn in the signer a prepare takes, and its cost in microseconds: what takes longer is waited for longer. */
export type LinkTurn = { organizationId: string; cost: number };

/** Others have their turns meanwhile. */
const patience = 4;

type Waiting = { kind: MessageKind; deadline: number; resolve(payload: Uint8Array): void; reject(fault: Fault): void };

export type LinkLimits = { deadlineMs: number; maxWaiting: number; maxQueuedBytes: number; silenceMs: number };

/** Silence is several deadlines long: by then every request of the first has been answered with a 503. */
const defaultLimits: LinkLimits = {
  deadlineMs: 5_000,
  maxWaiting: 1_024,
  maxQueuedBytes: memoryBounds.signerQueue,
  silenceMs: 15_000,
};

export type LinkEvents = {
  /** The socket is gone: there is no signer until another is attached. */
  onDown(): void;
  /** The signer runs and does not answer: nobody but the launcher can end it. */
  onSilent(): void;
};

export function createSignerLink({ onDown, onSilent }: LinkEvents, limits: LinkLimits = defaultLimits): SignerLink {
  const waiting = createInFlightRing<Waiting>(limits.maxWaiting);
  let socket: Socket | undefined;
  /** Frames the socket does not take yet. They wait here, where they are counted and can be dropped. */
  let queue: { id: number; frame: Uint8Array }[] = [];
  let queuedBytes = 0;
  let isFull = false;
  let corked = false;
  let silentSince: number | undefined;
  let preparing = 0;

  function take(id: number): Waiting | undefined {
    const request = waiting.take(id);
    if (request?.kind === "prepare") preparing -= 1;
    return request;
  }

  function failAll(why: string): void {
    const lost = waiting.takeAll();
    preparing = 0;
    queue = [];
    queuedBytes = 0;
    silentSince = undefined;
    for (const { reject } of lost) reject(new Fault("unavailable", why));
  }

  function onFrame({ kind, id, payload }: Frame): void {
    silentSince = undefined;
    const request = take(id);
    if (request === undefined) return; // Its deadline has passed.
    if (kind === "fault") {
      const { code, message, errorCode, details } = decode(faultMessage, payload);
      request.reject(new Fault(code as FaultCode, message, { errorCode, details: JSON.parse(details) }));
    } else request.resolve(payload);
  }

  function write(id: number, frame: Uint8Array): void {
    if (socket === undefined || isFull) {
      queue.push({ id, frame });
      queuedBytes += frame.length;
      return;
    }
    setWait(frame, (waiting.get(id)?.deadline ?? 0) - performance.now());
    // Requests of one turn leave in one write.
    if (!corked) {
      const current = socket;
      corked = true;
      current.cork();
      setImmediate(() => {
        corked = false;
        current.uncork();
      });
    }
    if (!socket.write(frame)) holdUntilDrained(socket);
  }

  /** The signer reads too slowly. */
  function holdUntilDrained(current: Socket): void {
    isFull = true;
    current.once("drain", () => {
      if (current !== socket) return;
      isFull = false;
      const queued = queue;
      queue = [];
      queuedBytes = 0;
      for (const { id, frame } of queued) write(id, frame);
    });
  }

  const sweep = setInterval(() => {
    const now = performance.now();
    let expired = 0;
    for (const { id, value } of waiting.entries()) {
      if (value.deadline > now) continue;
      take(id)?.reject(new Fault("unavailable", "the signer did not answer in time"));
      expired += 1;
    }
    if (expired === 0) return;
    queue = queue.filter(({ id }) => waiting.get(id) !== undefined);
    queuedBytes = queue.reduce((sum, { frame }) => sum + frame.length, 0);
    silentSince ??= now - limits.deadlineMs;
    if (now - silentSince < limits.silenceMs) return;
    silentSince = undefined;
    onSilent();
  }, limits.deadlineMs / 20);
  sweep.unref();

  return {
    request<K extends MessageKind>(kind: K, message: Request<K>, turn?: LinkTurn): Promise<Reply<K>> {
      if (socket === undefined) return Promise.reject(new Fault("unavailable", "the signer is not running; try again"));
      if (waiting.isFull() || queuedBytes >= limits.maxQueuedBytes) {
        return Promise.reject(new Fault("unavailable", "the signer is busy; try again"));
      }
      const { request, reply } = messages[kind] as unknown as { request: Layout<Request<K>>; reply: Layout<Reply<K>> };
      const id = waiting.nextId();
      const frame = encodeFrame(kind, id, request, message, turn && uuidToBytes(turn.organizationId));
      const answered = new Promise<Uint8Array>((resolve, reject) => {
        if (kind === "prepare") preparing += 1;
        const deadline = performance.now() + limits.deadlineMs + (patience * (turn?.cost ?? 0)) / 1_000;
        waiting.add({ kind, deadline, resolve, reject });
      });
      write(id, frame);
      return answered.then((bytes) => decode(reply, bytes));
    },
    preparing: () => preparing,
    queuedBytes: () => queuedBytes,
    attach(fresh) {
      if (socket === fresh) return;
      socket?.destroy();
      failAll("the signer was restarted; try again");
      socket = fresh;
      corked = false;
      isFull = false;
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

/**
 * The gateway's end of the socket. Requests have a deadline, the queue is bounded, and while there is no signer every
 * request is refused at once: the caller gets a 503 and may send the same body again.
 */
import type { Socket } from "node:net";
import { decode, type Layout } from "@keystead/core/encoding/layout.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import { encodeFrame, type Frame } from "../../frames/frame.ts";
import { createFrameReader } from "../../frames/frame_reader.ts";
import { faultMessage, type MessageKind, messages, type Reply, type Request } from "../../frames/messages.ts";
import { createInFlightRing, type InFlightRing } from "../bounds/in_flight_ring.ts";
import { memoryBounds } from "../bounds/memory_bounds.ts";
import { FrameWriter } from "./frame_writer.ts";

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

/** How often its estimated cost a request is waited for, beside the deadline: others have their turns meanwhile. */
const deadlinePerCost = 4;

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

export function createSignerLink(events: LinkEvents, limits: LinkLimits = defaultLimits): SignerLink {
  return new SocketLink(events, limits);
}

class SocketLink implements SignerLink {
  readonly #events: LinkEvents;
  readonly #limits: LinkLimits;
  readonly #waiting: InFlightRing<Waiting>;
  readonly #writer: FrameWriter;
  readonly #sweep: NodeJS.Timeout;
  #preparing = 0;
  #silentSince: number | undefined;

  constructor(events: LinkEvents, limits: LinkLimits) {
    this.#events = events;
    this.#limits = limits;
    this.#waiting = createInFlightRing<Waiting>(limits.maxWaiting);
    this.#writer = new FrameWriter((id) => (this.#waiting.get(id)?.deadline ?? 0) - performance.now());
    this.#sweep = setInterval(() => this.#dropExpired(), limits.deadlineMs / 20);
    this.#sweep.unref();
  }

  request<K extends MessageKind>(kind: K, message: Request<K>, turn?: LinkTurn): Promise<Reply<K>> {
    const { deadlineMs, maxQueuedBytes } = this.#limits;
    const waiting = this.#waiting;
    if (this.#writer.socket === undefined) {
      return Promise.reject(new Fault("unavailable", "the signer is not running; try again"));
    }
    if (waiting.isFull() || this.#writer.queuedBytes >= maxQueuedBytes) {
      return Promise.reject(new Fault("unavailable", "the signer is busy; try again"));
    }
    const { request, reply } = messages[kind] as unknown as { request: Layout<Request<K>>; reply: Layout<Reply<K>> };
    const id = waiting.nextId();
    const frame = encodeFrame(kind, id, request, message, turn && uuidToBytes(turn.organizationId));
    const answered = new Promise<Uint8Array>((resolve, reject) => {
      if (kind === "prepare") this.#preparing += 1;
      const deadline = performance.now() + deadlineMs + (deadlinePerCost * (turn?.cost ?? 0)) / 1_000;
      waiting.add({ kind, deadline, resolve, reject });
    });
    this.#writer.write(id, frame);
    return answered.then((bytes) => decode(reply, bytes));
  }

  preparing(): number {
    return this.#preparing;
  }

  queuedBytes(): number {
    return this.#writer.queuedBytes;
  }

  attach(socket: Socket): void {
    if (this.#writer.socket === socket) return;
    this.#writer.socket?.destroy();
    this.#writer.use(socket);
    this.#failAll("the signer was restarted; try again");
    const read = createFrameReader((frame) => this.#onFrame(frame), { takesParts: true });
    socket.on("data", (chunk: Buffer) => {
      try {
        read(chunk);
      } catch {
        socket.destroy();
      }
    });
    socket.on("error", () => this.#onLost(socket));
    socket.on("close", () => this.#onLost(socket));
    socket.resume();
  }

  close(): void {
    clearInterval(this.#sweep);
    const { socket } = this.#writer;
    this.#writer.use(undefined);
    socket?.destroy();
    this.#failAll("the gateway is stopping");
  }

  #take(id: number): Waiting | undefined {
    const request = this.#waiting.take(id);
    if (request?.kind === "prepare") this.#preparing -= 1;
    return request;
  }

  #failAll(why: string): void {
    const lost = this.#waiting.takeAll();
    this.#preparing = 0;
    this.#silentSince = undefined;
    for (const { reject } of lost) reject(new Fault("unavailable", why));
  }

  #onFrame({ kind, id, payload }: Frame): void {
    this.#silentSince = undefined;
    const request = this.#take(id);
    if (request === undefined) return; // Its deadline has passed.
    if (kind === "fault") {
      const { code, message, errorCode, details } = decode(faultMessage, payload);
      request.reject(new Fault(code as FaultCode, message, { errorCode, details: JSON.parse(details) }));
    } else request.resolve(payload);
  }

  #onLost(socket: Socket): void {
    if (this.#writer.socket !== socket) return;
    this.#writer.use(undefined);
    this.#failAll("the signer stopped; try again");
    this.#events.onDown();
  }

  #dropExpired(): void {
    const now = performance.now();
    let expired = 0;
    for (const { id, value } of this.#waiting.entries()) {
      if (value.deadline > now) continue;
      this.#take(id)?.reject(new Fault("unavailable", "the signer did not answer in time"));
      expired += 1;
    }
    if (expired === 0) return;
    this.#writer.drop((id) => this.#waiting.get(id) === undefined);
    this.#silentSince ??= now - this.#limits.deadlineMs;
    if (now - this.#silentSince < this.#limits.silenceMs) return;
    this.#silentSince = undefined;
    this.#events.onSilent();
  }
}

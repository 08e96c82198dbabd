import type { Socket } from "node:net";
import { setWait } from "../../frames/frame.ts";

/** Writes frames to the signer's socket. Those that the socket does not take yet wait here, where they are counted and can be dropped. */
export class FrameWriter {
  readonly #waitMsOf: (id: number) => number;
  #socket: Socket | undefined;
  #queue: { id: number; frame: Uint8Array }[] = [];
  #queuedBytes = 0;
  #isFull = false;
  #isCorked = false;

  /** `waitMsOf`: for how long the sender of a frame will still wait. */
  constructor(waitMsOf: (id: number) => number) {
    this.#waitMsOf = waitMsOf;
  }

  get socket(): Socket | undefined {
    return this.#socket;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** From now on frames go to this socket, or nowhere. Those that wait for another are dropped. */
  use(socket: Socket | undefined): void {
    this.#socket = socket;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#isFull = false;
    this.#isCorked = false;
  }

  write(id: number, frame: Uint8Array): void {
    const socket = this.#socket;
    if (socket === undefined || this.#isFull) {
      this.#queue.push({ id, frame });
      this.#queuedBytes += frame.length;
      return;
    }
    setWait(frame, this.#waitMsOf(id));
    if (!this.#isCorked) this.#cork(socket);
    if (!socket.write(frame)) this.#holdUntilDrained(socket);
  }

  /** Keeps only those that somebody still waits for. */
  drop(isGone: (id: number) => boolean): void {
    this.#queue = this.#queue.filter(({ id }) => !isGone(id));
    this.#queuedBytes = this.#queue.reduce((sum, { frame }) => sum + frame.length, 0);
  }

  /** Requests of one turn of the event loop leave in one write. */
  #cork(socket: Socket): void {
    this.#isCorked = true;
    socket.cork();
    setImmediate(() => {
      this.#isCorked = false;
      socket.uncork();
    });
  }

  /** The signer reads too slowly. */
  #holdUntilDrained(socket: Socket): void {
    this.#isFull = true;
    socket.once("drain", () => {
      if (socket !== this.#socket) return;
      this.#isFull = false;
      const queued = this.#queue;
      this.#queue = [];
      this.#queuedBytes = 0;
      for (const { id, frame } of queued) this.write(id, frame);
    });
  }
}

/**
 * What the signer answers, on its way to the gateway. Long answers travel in parts, and whoever is answered takes turns by bytes: nobody's
 * signature waits behind another organization's thousand users. What is answered to one organization, or in its own order, stays in that.
 */
import type { Socket } from "node:net";
import { partHead, partLength } from "../frames/frame.ts";
import { createFairQueue, type Flow } from "../state/fair_queue.ts";

/**
 * What the socket is given before it has passed on what it had: two turns of the event loop take about as much, and whoever comes new
 * waits for no more than this.
 */
const ahead = 4 * partLength;

type Answer = { frame: Uint8Array; at: number };

export class Answers {
  readonly #socket: Socket;
  readonly #queue = createFairQueue<Answer>(partLength);
  readonly #onDrain: () => void;
  #waitingBytes = 0;
  #isFull = false;

  /** `onDrain`: something has left, so that less waits than before. */
  constructor(socket: Socket, onDrain: () => void) {
    this.#socket = socket;
    this.#onDrain = onDrain;
  }

  /** Of what the gateway has not taken yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** To be sent with the next flush, behind whatever waits in the same line. */
  add(line: string, frame: Uint8Array): void {
    this.#waitingBytes += frame.length;
    this.#queue.add(line, { frame, at: 0 });
  }

  /** In one write, as much as the socket takes. */
  flush(): void {
    if (this.#isFull || this.#queue.size === 0) return;
    const socket = this.#socket;
    socket.cork();
    while (socket.writableLength < ahead) {
      const flow = this.#queue.next();
      if (flow === undefined) break;
      this.#send(flow);
    }
    socket.uncork();
    if (this.#queue.size > 0) this.#awaitDrain();
  }

  /** The first answer of a line, or the next part of it. */
  #send(flow: Flow<Answer>): void {
    const answer = flow.first();
    const { frame, at } = answer;
    const content = frame.subarray(at, at + partLength);
    if (content.length < frame.length) this.#socket.write(partHead(frame, at));
    this.#socket.write(content);
    answer.at += content.length;
    this.#waitingBytes -= content.length;
    flow.charge(content.length);
    if (answer.at === frame.length) flow.shift();
  }

  #awaitDrain(): void {
    this.#isFull = true;
    this.#socket.once("drain", () => {
      this.#isFull = false;
      this.flush();
      this.#onDrain();
    });
  }
}

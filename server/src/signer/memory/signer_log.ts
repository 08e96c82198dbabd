/**
 * The log of this memory: the tree up to the last checkpoint as its right edge, and every leaf behind it. A leaf is in the tree from the moment
 * that it is here; its entry is hashed into the edge with the checkpoint that covers it.
 */
import { Fault } from "@keystead/core/fault.ts";
import { Frontier } from "@keystead/core/tlog/tree.ts";
import { sha256 } from "../../state/digest.ts";
import { type LoggedLeaf, LogTail } from "./log_tail.ts";
import { createOrdinals, type Ordinals } from "./ordinals.ts";

/** Leaves that the gateway has not said to be stored. With more, nothing is released until it has. */
export const maxTailLength = 100_000;

/** How far a log had come. */
export type LogHead = { logId: Uint8Array; size: number; root: Uint8Array };

export type NewLog = {
  logId: Uint8Array;
  openedAtMs: number;
  /** The log that it follows, as far as that is known. */
  previous: LogHead | undefined;
  /** Leaves of a database from before there were logs are taken in, whoever released them. */
  takesAll: boolean;
};

export class SignerLog {
  readonly logId: Uint8Array;
  readonly openedAtMs: number;
  readonly previous: LogHead | undefined;
  readonly ordinals: Ordinals = createOrdinals();
  readonly #tail = new LogTail();
  #edge: Frontier;
  #takesAll: boolean;

  constructor({ logId, openedAtMs, previous, takesAll }: NewLog, edge = new Frontier(sha256)) {
    // Copies: what it is given may be a view into a whole file.
    this.logId = Uint8Array.from(logId);
    this.openedAtMs = openedAtMs;
    this.previous = previous && {
      logId: Uint8Array.from(previous.logId),
      size: previous.size,
      root: Uint8Array.from(previous.root),
    };
    this.#takesAll = takesAll;
    this.#edge = edge;
  }

  get takesAll(): boolean {
    return this.#takesAll;
  }

  get size(): number {
    return this.#edge.size + this.#tail.length;
  }

  /** The act that lists a log is its first leaf. */
  get isListed(): boolean {
    return this.size > 0;
  }

  /** Of the last checkpoint; 0 before the first. What lies before it is forgotten. */
  get checkpointSize(): number {
    return this.#edge.size;
  }

  get edge(): Frontier {
    return this.#edge;
  }

  get tailLength(): number {
    return this.#tail.length;
  }

  /** Leaves from a position on, none of which is forgotten. */
  leavesFrom(position: number, count: number): LoggedLeaf[] {
    const begin = position - this.#edge.size;
    return this.#tail.slice(begin, begin + count);
  }

  append(leaf: LoggedLeaf): void {
    if (leaf.ordinal > 0) this.ordinals.set(leaf.organizationId, leaf.ordinal);
    this.#tail.push(leaf);
  }

  /** The right edge of the tree at a size from the last checkpoint to the head. */
  edgeAt(size: number): Frontier {
    if (size < this.#edge.size || size > this.size) throw new Fault("internal", `the log has no edge at ${size}`);
    const edge = this.#edge.copy();
    for (const entry of this.#tail.entries(size - edge.size)) edge.append(entry);
    return edge;
  }

  head(): LogHead {
    return { logId: this.logId, size: this.size, root: this.edgeAt(this.size).root() };
  }

  /** All before this edge is stored elsewhere, and signed. */
  setCheckpoint(edge: Frontier): void {
    this.#tail.drop(edge.size - this.#edge.size);
    this.#edge = edge;
  }

  endTakingAll(): void {
    this.#takesAll = false;
  }
}

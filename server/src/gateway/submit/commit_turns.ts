/**
 * Whose commits come next. Those of one organization stay in their order, and organizations take turns by bytes: one that writes megabytes
 * with each request keeps nobody waiting for more than one of them. Groups of short ones and long ones alternate, so that a short one
 * waits for at most one group of long ones, of however many organizations; and long ones, too, have every other turn.
 */
import { createQueue, type Queue } from "../../state/fair_queue.ts";

type Turned = { readonly organizationId: string; readonly bytes: number };

export const maxGroup = 256;
/** Long rows go in smaller groups: on SQLite nobody is served while one is written, and one frame releases it. */
export const maxGroupBytes = 1024 * 1024;

/** At least eight of those below fit into a group. */
export const longBytes = maxGroupBytes / 8;

/** What an organization may have committed before others have their turn. */
const quantum = { short: 64 * 1024, long: maxGroupBytes } as const;

/** What each costs beside its long parts. */
const rowBytes = 1_024;

/** Lines stay when they are empty, up to so many: organizations come and go with each request. */
const keptLines = 4_096;

type Size = keyof typeof quantum;

/** What one organization has waiting. It stands in the ring of its first entry's size. */
type Line<E> = { entries: Queue<E>; credit: number };

export class CommitTurns<E extends Turned> {
  readonly #lines = new Map<string, Line<E>>();
  readonly #rings: Record<Size, Queue<Line<E>>> = { short: createQueue(), long: createQueue() };
  #isLongsTurn = false;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(entry: E): void {
    const line = this.#lineOf(entry.organizationId);
    const isNew = line.entries.first() === undefined;
    line.entries.push(entry);
    this.#length += 1;
    if (isNew) this.#list(line, entry);
  }

  /** Those that are committed together next, in the order of their organizations; none if none waits. */
  next(): E[] {
    const { short, long } = this.#rings;
    const isLong = long.first() !== undefined && (this.#isLongsTurn || short.first() === undefined);
    this.#isLongsTurn = !isLong;
    return this.#take(isLong ? "long" : "short");
  }

  #take(size: Size): E[] {
    const ring = this.#rings[size];
    const group: E[] = [];
    let bytes = 0;
    for (let line = ring.first(); line !== undefined && group.length < maxGroup; line = ring.first()) {
      if (line.credit <= 0) {
        line.credit += quantum[size];
        ring.shift();
        ring.push(line);
        continue;
      }
      const entry = line.entries.first();
      if (entry === undefined) break;
      if (group.length > 0 && bytes + entry.bytes > maxGroupBytes) break;
      group.push(entry);
      bytes += entry.bytes;
      line.entries.shift();
      this.#length -= 1;
      line.credit -= entry.bytes + rowBytes;
      const next = line.entries.first();
      if (next !== undefined && sizeOf(next) === size) continue;
      ring.shift();
      if (next !== undefined) this.#list(line, next);
    }
    return group;
  }

  #list(line: Line<E>, first: E): void {
    const size = sizeOf(first);
    line.credit = quantum[size];
    this.#rings[size].push(line);
  }

  #lineOf(organizationId: string): Line<E> {
    let line = this.#lines.get(organizationId);
    if (line === undefined) {
      if (this.#lines.size >= keptLines) this.#forgetEmpty();
      line = { entries: createQueue(), credit: 0 };
      this.#lines.set(organizationId, line);
    }
    return line;
  }

  #forgetEmpty(): void {
    for (const [id, { entries }] of this.#lines) if (entries.first() === undefined) this.#lines.delete(id);
  }
}

export function isLong({ bytes }: Pick<Turned, "bytes">): boolean {
  return bytes > longBytes;
}

function sizeOf(entry: Turned): Size {
  return isLong(entry) ? "long" : "short";
}

/**
 * Whose commits come next. Those of one organization stay in their order, and organizations take turns by bytes: one that writes megabytes
 * with each request keeps nobody waiting for more than one of them. Short ones and long ones are never in one group, and a group of each
 * may be on its way: a short one waits for at most one group of long ones, of however many organizations. What an organization has in the
 * one keeps its rest out of the other.
 */
import { createQueue, type Queue } from "../../state/fair_queue.ts";

/**
 * `bytes`: what it takes to write, its rows included. `requires`: other organizations whose heads must stand while it is committed.
 */
type Turned = { readonly organizationId: string; readonly bytes: number; readonly requires: readonly string[] };

export const maxGroup = 256;
/** Long rows go in smaller groups: on SQLite nobody else writes while one is written, and one frame releases it. */
export const maxGroupBytes = 1024 * 1024;

/** And in still smaller ones while others are there. */
const sharedLongBytes = maxGroupBytes / 4;

/** At least sixteen of those below fit into a group. */
export const longBytes = maxGroupBytes / 16;

/** What an organization may have committed before others have their turn; and of short ones in one group, while others are there. */
const quantum = { short: 64 * 1024, long: sharedLongBytes } as const;

/**
 * Writing a row takes as long as so many bytes of a long one, whatever is in it: each is found and written by itself. A thousand keys are some
 * hundred kilobytes, and held everybody else for as long as three megabytes of pages do.
 */
export const rowBytes = 2_048;

/** What each costs beside that. */
const entryBytes = 1_024;

/** Lines stay when they are empty, up to so many: organizations come and go with each request. */
const keptLines = 4_096;

export type Size = keyof typeof quantum;

/** What is committed together, until `over` is told. `withheld`: lines that have more than they may have in it. */
export type Group<E> = { readonly size: Size; readonly entries: readonly E[]; readonly withheld: readonly Line<E>[] };

/** What one organization has waiting. It stands in the ring of its first entry's size, unless a group of the other size has some of it. */
type Line<E> = { entries: Queue<E>; credit: number; wasHeldBack: boolean };

export class CommitTurns<E extends Turned> {
  readonly #lines = new Map<string, Line<E>>();
  readonly #rings: Record<Size, Queue<Line<E>>> = { short: createQueue(), long: createQueue() };
  /** Lines of which the group that is being committed has entries. */
  readonly #taken: Record<Size, Set<Line<E>>> = { short: new Set(), long: new Set() };
  /**
   * Lines whose next entry is short and requires a head that a long group moves: it would wait for that, and everybody with it. It does so
   * once, and a long one never: whoever commits all the time would keep them waiting for ever.
   */
  readonly #heldBack: Line<E>[] = [];
  readonly #lengths: Record<Size, number> = { short: 0, long: 0 };
  readonly #isAlone: (organizationId: string) => boolean;

  constructor(isAlone: (organizationId: string) => boolean) {
    this.#isAlone = isAlone;
  }

  /** How many of this size wait. */
  lengthOf(size: Size): number {
    return this.#lengths[size];
  }

  hasNext(size: Size): boolean {
    return this.#rings[size].first() !== undefined;
  }

  add(entry: E): void {
    const line = this.#lineOf(entry.organizationId);
    const isNew = line.entries.first() === undefined;
    line.entries.push(entry);
    this.#lengths[sizeOf(entry)] += 1;
    if (isNew) this.#list(line, entry);
  }

  /** Those that are committed together next, in the order of their organizations. Of each size, one group is on its way at a time. */
  next(size: Size): Group<E> {
    const withheld: Line<E>[] = [];
    return { size, entries: this.#take(size, withheld), withheld };
  }

  /** A group was committed, or was not: what its organizations have behind it may follow, but for what was withheld. */
  over({ size }: Group<E>): void {
    const lines = [...this.#taken[size]];
    this.#taken[size].clear();
    for (const line of lines) {
      const first = line.entries.first();
      if (first !== undefined && sizeOf(first) !== size) this.#list(line, first);
    }
    if (size === "long") for (const line of this.#heldBack.splice(0)) this.#rings.short.push(line);
  }

  /** What was withheld from a group may come into the next one. */
  giveBack({ withheld }: Group<E>): void {
    for (const line of withheld) this.#rings.short.push(line);
  }

  #take(size: Size, withheld: Line<E>[]): E[] {
    const ring = this.#rings[size];
    const group: E[] = [];
    let bytes = 0;
    for (let line = ring.first(); line !== undefined && group.length < maxGroup; line = ring.first()) {
      if (line.credit <= 0) {
        line.credit += quantum[size];
        ring.shift();
        if (this.#hasItsPart(line, size)) withheld.push(line);
        else ring.push(line);
        continue;
      }
      const entry = line.entries.first();
      if (entry === undefined) break;
      if (size === "short" && !line.wasHeldBack && this.#wouldWait(entry)) {
        line.wasHeldBack = true;
        ring.shift();
        this.#heldBack.push(line);
        continue;
      }
      if (group.length > 0 && bytes + entry.bytes > this.#mostBytes(size, entry)) break;
      group.push(entry);
      bytes += entry.bytes;
      this.#taken[size].add(line);
      line.entries.shift();
      line.wasHeldBack = false;
      this.#lengths[size] -= 1;
      line.credit -= entry.bytes + entryBytes;
      const next = line.entries.first();
      if (next === undefined || sizeOf(next) !== size) ring.shift();
    }
    return group;
  }

  /** Whoever comes while short ones are written waits for all of them. */
  #hasItsPart(line: Line<E>, size: Size): boolean {
    const { organizationId = "" } = line.entries.first() ?? {};
    return size === "short" && this.#taken.short.has(line) && !this.#isAlone(organizationId);
  }

  #mostBytes(size: Size, { organizationId }: E): number {
    return size === "short" || this.#isAlone(organizationId) ? maxGroupBytes : sharedLongBytes;
  }

  #wouldWait({ requires }: E): boolean {
    return requires.some((id) => {
      const line = this.#lines.get(id);
      return line !== undefined && this.#taken.long.has(line);
    });
  }

  /** What a group of the other size has entries of is listed when that is over. */
  #list(line: Line<E>, first: E): void {
    const size = sizeOf(first);
    if (this.#taken[size === "short" ? "long" : "short"].has(line)) return;
    line.credit = quantum[size];
    this.#rings[size].push(line);
  }

  #lineOf(organizationId: string): Line<E> {
    let line = this.#lines.get(organizationId);
    if (line === undefined) {
      if (this.#lines.size >= keptLines) this.#forgetEmpty();
      line = { entries: createQueue(), credit: 0, wasHeldBack: false };
      this.#lines.set(organizationId, line);
    }
    return line;
  }

  #forgetEmpty(): void {
    const { short, long } = this.#taken;
    for (const [id, line] of this.#lines) {
      if (line.entries.first() === undefined && !short.has(line) && !long.has(line)) this.#lines.delete(id);
    }
  }
}

export function isLong({ bytes }: Pick<Turned, "bytes">): boolean {
  return bytes > longBytes;
}

function sizeOf(entry: Turned): Size {
  return isLong(entry) ? "long" : "short";
}

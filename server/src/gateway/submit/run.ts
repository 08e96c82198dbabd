/** A chain of requests of one organization, each building on the state that the one before led to, committed or not. */
import type { NextState } from "../../frames/messages.ts";
import { findVersion } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { PageLengths } from "./page_lengths.ts";
import { maxCommitMs } from "./round.ts";

export type Run = {
  isCurrent(): boolean;
  abandon(): void;
  /** The database has taken the state of this version. */
  reached(version: number): void;
  /** Whether the newest state that it led to is the organization's newest, once the database has taken it. */
  isNewest(): Promise<boolean>;
};

/** For a single decision that nothing follows. */
export const loneRun: Run = {
  isCurrent: () => true,
  abandon: () => undefined,
  reached: () => undefined,
  isNewest: async () => true,
};

/** The organization's current run, if it has one. */
export type RunHolder = { readonly organizationId: string; run: OpenRun | undefined };

/** The page of IP allowlists, where it is among these. */
export function ipAllowlistsIn(pages: NextState["pages"]): Uint8Array | undefined {
  return pages.find(({ name }) => name === "ipAllowlists")?.content;
}

/** One that others may follow. */
export class OpenRun implements Run {
  readonly #store: Store;
  readonly #holder: RunHolder;
  /** The newest that it began with or led to, committed or not. */
  #version: number;
  #committed: number;
  #waiting: { version: number; resolve(hasReached: boolean): void }[] = [];
  readonly #pageLengths: PageLengths;
  /** The page of IP allowlists in the newest state, where that has one: who follows is held against it. */
  ipAllowlists: Uint8Array | undefined;

  constructor(store: Store, holder: RunHolder, version: number, pages: NextState["pages"]) {
    this.#store = store;
    this.#holder = holder;
    this.#version = version;
    this.#committed = version;
    this.#pageLengths = new PageLengths(pages);
    this.ipAllowlists = ipAllowlistsIn(pages);
  }

  /** Of the newest state's pages, in bytes. */
  get stateLength(): number {
    return this.#pageLengths.total;
  }

  /** A decision has led to this state. */
  ledTo({ version, pages }: Pick<NextState, "version" | "pages">): void {
    this.#version = Math.max(this.#version, version);
    this.#pageLengths.note(pages);
    this.ipAllowlists = ipAllowlistsIn(pages) ?? this.ipAllowlists;
  }

  isCurrent(): boolean {
    return this.#holder.run === this;
  }

  abandon(): void {
    if (!this.isCurrent()) return;
    this.#holder.run = undefined;
    for (const { resolve } of this.#waiting) resolve(false);
  }

  reached(newest: number): void {
    this.#committed = Math.max(this.#committed, newest);
    if (this.#waiting.length === 0) return;
    for (const { version, resolve } of this.#waiting) if (version <= this.#committed) resolve(true);
    this.#waiting = this.#waiting.filter(({ version }) => version > this.#committed);
  }

  async isNewest(): Promise<boolean> {
    const version = this.#version;
    if (!(await this.#hasReached(version))) return false;
    const newest = (await findVersion(this.#store, this.#holder.organizationId)) ?? version;
    // What the run itself has led to since is no reason to ask again.
    return newest <= this.#version && (await this.#hasReached(newest));
  }

  /** Whether the database took this version, once that is known; an abandoned run's never counts. */
  async #hasReached(version: number): Promise<boolean> {
    if (version <= this.#committed || !this.isCurrent()) return this.isCurrent();
    return new Promise((resolve) => {
      this.#waiting.push({ version, resolve });
      setTimeout(resolve, maxCommitMs, false).unref();
    });
  }
}

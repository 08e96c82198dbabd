/**
 * Commits in groups, releases in commit order. Many activities share one transaction and one sync to disk; what was
 * committed is released by the signer before anybody is answered, and marked as released with the next group.
 */
import { Fault } from "@keystead/core/fault.ts";
import { passed } from "../../state/steps.ts";
import { loadUnreleased } from "../../store/across.ts";
import { commitGroup } from "../../store/commit.ts";
import type { CommitItem, ReleasedLeaf } from "../../store/commit_item.ts";
import { plainReason } from "../../store/database_away.ts";
import type { UnreleasedLeaf } from "../../store/leaves.ts";
import { loadHeaders } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { Run } from "./organizations.ts";

export type CommitOutcome = { kind: "committed"; result: string | undefined } | { kind: "conflict" };

/** A committed row on its way out. */
export type StoredLeaf = ReleasedLeaf & { leaf: Uint8Array; sealed: Uint8Array | undefined };

export type ReleaseOutcome = { kind: "released"; result: string | undefined } | { kind: "refused"; message: string };

export type Committer = {
  /** A conflict abandons the run at once, so that nothing behind it in the queue commits on a state that never was. */
  commit(item: CommitItem, run: Run): Promise<CommitOutcome>;
  /** Releases rows that are committed already: what a crash left behind, or a repeated body finds unreleased. */
  release(leaves: readonly StoredLeaf[]): Promise<ReleaseOutcome[]>;
  /** Releases every committed row that nobody has opened yet; the messages of those the signer refuses. */
  releaseLeftovers(): Promise<string[]>;
  /** Writes down what was released last. */
  settle(): Promise<void>;
  /** Of what was given to it and is not answered yet. */
  heldBytes(): number;
  /** Why the newest commit or release failed; undefined once one has succeeded, or when that is too long ago to tell. */
  trouble(): string | undefined;
};

type Entry = {
  item: CommitItem;
  bytes: number;
  run: Run;
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
};

const maxGroup = 256;
/** Long rows go in smaller groups: on SQLite nobody is served while one is written, and one frame releases it. */
const maxGroupBytes = 1024 * 1024;
const fullGroup = 32;
const maxWaitMs = 3;
const leftoversAtOnce = 1_000;

/** When no group comes to take a released result along, it is written by itself: others than the caller wait for it. */
const maxResultWaitMs = 20;

/** When the database did not take it, and no group comes to try again. */
const unsettledWaitMs = 1_000;

/** While `/readyz` says no, nobody may send the commit that would prove otherwise: after this time one may try again. */
const troubleKeptMs = 10_000;

export function createCommitter(store: Store, link: SignerLink): Committer {
  const queue: Entry[] = [];
  let marks: ReleasedLeaf[] = [];
  let heldBytes = 0;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let settling: NodeJS.Timeout | undefined;
  /** The newest outcome of each of the two steps, when it was a failure. */
  const failures = new Map<"commit" | "release", { message: string; atMs: number }>();

  async function observed<T>(step: "commit" | "release", message: string, work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      failures.delete(step);
      return done;
    } catch (error) {
      failures.set(step, { message: `${message}${reasonFor(error)}`, atMs: performance.now() });
      throw error;
    }
  }

  function write(items: readonly CommitItem[], released: readonly ReleasedLeaf[]): Promise<{ committed: boolean[] }> {
    return observed("commit", "the database did not take the last commit", commitGroup(store, items, released));
  }

  /**
   * A group waits for what the signer is still preparing, because it would want a transaction and a sync of its own next;
   * but never long, and not beyond a size that fills a sync anyway.
   */
  function schedule(): void {
    if (running) return;
    if (link.preparing() > 0 && queue.length < fullGroup) {
      timer ??= setTimeout(start, maxWaitMs);
      return;
    }
    start();
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    if (running) return;
    running = true;
    // Whatever else this turn of the loop brings joins the group.
    setImmediate(() => void work());
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      const group = queue.splice(0, groupLength(queue)).filter((entry) => {
        const current = entry.run.isCurrent();
        if (!current) entry.resolve({ kind: "conflict" });
        return current;
      });
      if (group.length > 0) await commitEntries(group);
    }
    running = false;
  }

  function takeMarks(): ReleasedLeaf[] {
    clearTimeout(settling);
    settling = undefined;
    const released = marks;
    marks = [];
    return released;
  }

  async function commitEntries(group: readonly Entry[]): Promise<void> {
    const released = takeMarks();
    try {
      const { committed } = await write(
        group.map(({ item }) => item),
        released,
      );
      passed("committed");
      const done = group.filter((entry, index) => {
        if (committed[index] === true) {
          entry.run.reached(entry.item.next?.version ?? 0);
          return true;
        }
        entry.run.abandon();
        entry.resolve({ kind: "conflict" });
        return false;
      });
      // The next group may commit while the signer releases this one: the socket keeps their order.
      if (done.length > 0) void releaseEntries(done);
    } catch (cause) {
      putBack(released);
      for (const { run, reject } of group) {
        run.abandon();
        reject(new Fault("unavailable", "the database did not commit; try again", { cause }));
      }
    }
  }

  async function releaseEntries(done: readonly Entry[]): Promise<void> {
    try {
      const leaves = done.map(({ item }) => [item, ...(item.births ?? [])].map(toStoredLeaf));
      const outcomes = (await release(leaves.flat())).values();
      done.forEach(({ resolve, reject }, index) => {
        const [own, ...births] = (leaves[index] ?? []).map(() => outcomes.next().value);
        const refused = [own, ...births].find((outcome) => outcome?.kind !== "released");
        if (own?.kind === "released" && refused === undefined) resolve({ kind: "committed", result: own.result });
        else reject(new Fault("unavailable", refused?.message ?? "the signer released nothing"));
      });
    } catch (error) {
      // Committed, but not released: the same body sent again finds the row and has it released.
      for (const { reject } of done) reject(error);
    }
  }

  async function release(leaves: readonly StoredLeaf[]): Promise<ReleaseOutcome[]> {
    let links: Uint8Array[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const rows = leaves.map(({ leaf, sealed }) => ({ leaf, sealed }));
      const asked = link.request("release", { rows, links });
      const replies = await observed("release", "the signer did not release the last commit", asked);
      passed("released");
      const gaps = replies.flatMap((reply) => (reply.kind === "missing" ? [reply.value] : []));
      if (gaps.length > 0 && attempt < 2) {
        links = [];
        for (const { organizationId, linksFrom, linksTo } of gaps) {
          links.push(...(await loadHeaders(store, organizationId, linksFrom, linksTo)));
        }
        continue;
      }
      return replies.map((reply, index): ReleaseOutcome => {
        const leaf = leaves[index];
        if (reply.kind === "missing") return { kind: "refused", message: "headers are missing in the database" };
        if (reply.kind === "refused") return { kind: "refused", message: reply.value.message };
        const { result } = reply.value;
        if (leaf !== undefined) marks.push(toMark(leaf, result));
        if (result !== undefined) settleIn(maxResultWaitMs);
        return { kind: "released", result };
      });
    }
    throw new Fault("internal", "unreachable");
  }

  async function settle(): Promise<void> {
    const released = takeMarks();
    if (released.length === 0) return;
    try {
      passed("settling");
      await write([], released);
      passed("settled");
    } catch (error) {
      putBack(released);
      throw error;
    }
  }

  function settleIn(ms: number): void {
    settling ??= setTimeout(() => void settle().catch(() => undefined), ms);
    // Who ends settles once more, and does not wait for a database that is away.
    settling.unref();
  }

  function putBack(released: readonly ReleasedLeaf[]): void {
    marks = [...released, ...marks];
    if (marks.length > 0) settleIn(unsettledWaitMs);
  }

  return {
    commit(item, run) {
      return new Promise((resolve, reject) => {
        const bytes = bytesIn(item);
        const answered = (): void => {
          heldBytes -= bytes;
        };
        heldBytes += bytes;
        queue.push({
          item,
          bytes,
          run,
          resolve(outcome) {
            answered();
            resolve(outcome);
          },
          reject(error) {
            answered();
            reject(error);
          },
        });
        schedule();
      });
    },
    release,
    heldBytes: () => heldBytes,
    async releaseLeftovers() {
      const refusals: string[] = [];
      for (;;) {
        const rows = await loadUnreleased(store, leftoversAtOnce);
        for (const portion of inPortions(rows)) {
          const outcomes = isTooLong(portion) ? [tooLong] : await release(portion.map(toLeftover));
          for (const [index, outcome] of outcomes.entries()) {
            if (outcome.kind === "refused") refusals.push(notReleased(portion[index], outcome.message));
          }
        }
        await settle();
        // Refused rows stay and would come again. What others commit meanwhile is theirs to release: waiting until
        // nothing is left would keep a gateway that joins a busy database from ever being ready.
        if (refusals.length > 0 || rows.length < leftoversAtOnce) return refusals;
      }
    },
    settle,
    trouble() {
      for (const { message, atMs } of failures.values()) if (performance.now() - atMs < troubleKeptMs) return message;
      return undefined;
    },
  };
}

/** The signer's words are meant to be passed on, and so are SQLite's; those of a driver may name a host. */
function reasonFor(error: unknown): string {
  if (error instanceof Fault) return `: ${error.message}`;
  const { errstr = plainReason(error) } = error as { errstr?: string };
  return errstr === undefined ? "" : ` (${errstr})`;
}

/** Half of what a frame carries; headers go along. */
const portionBytes = 4 * 1024 * 1024;

const bytesOf = ({ leaf, sealed }: UnreleasedLeaf) => leaf.length + (sealed?.length ?? 0);

/** How many are committed together. */
function groupLength(queue: readonly Entry[]): number {
  let bytes = 0;
  for (let length = 0; length < Math.min(queue.length, maxGroup); length++) {
    bytes += queue[length]?.bytes ?? 0;
    if (bytes > maxGroupBytes) return Math.max(1, length);
  }
  return Math.min(queue.length, maxGroup);
}

/** The long parts of what is committed for one activity. */
function bytesIn({ leaf, activity, next, records = [], births = [] }: CommitItem): number {
  const pages = next?.pages.reduce((sum, { content }) => sum + content.length, 0) ?? 0;
  const secrets = records.reduce((sum, { content, sealed }) => sum + content.length + sealed.length, 0);
  const own =
    leaf.leaf.length + (leaf.sealed?.length ?? 0) + (activity?.body.length ?? 0) + (activity?.result?.length ?? 0);
  return births.reduce((sum, birth) => sum + bytesIn(birth), own + pages + secrets);
}

/** Rows that one frame carries. What is longer than that by itself stands alone. */
function inPortions(rows: readonly UnreleasedLeaf[]): UnreleasedLeaf[][] {
  const portions: UnreleasedLeaf[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    length += bytesOf(row);
    if (length > portionBytes) {
      portions.push([]);
      length = bytesOf(row);
    }
    portions.at(-1)?.push(row);
  }
  return portions;
}

function isTooLong([first]: readonly UnreleasedLeaf[]): boolean {
  return first !== undefined && bytesOf(first) > portionBytes;
}

const tooLong: ReleaseOutcome = { kind: "refused", message: "it is longer than anything that the signer wrote" };

function notReleased(row: UnreleasedLeaf | undefined, why: string): string {
  return (
    `organization ${row?.organizationId}: leaf ${row?.number} of signer boot ${row?.boot} is not released: ${why}; ` +
    "if rows were changed, `npx keystead check-log` and `npx keystead check-database` name them"
  );
}

function toStoredLeaf({ organizationId, leaf, activity }: CommitItem): StoredLeaf {
  const { boot, number, leaf: bytes, sealed } = leaf;
  return { organizationId, boot, number, leaf: bytes, sealed, ...(activity && { activityId: activity.activityId }) };
}

export function toLeftover({ organizationId, boot, number, activityId, leaf, sealed }: UnreleasedLeaf): StoredLeaf {
  return {
    organizationId,
    boot,
    number,
    leaf,
    sealed: sealed ?? undefined,
    ...(activityId !== null && { activityId }),
  };
}

function toMark({ organizationId, boot, number, activityId }: StoredLeaf, result: string | undefined): ReleasedLeaf {
  return {
    organizationId,
    boot,
    number,
    ...(activityId !== undefined && { activityId }),
    ...(result !== undefined && { result }),
  };
}

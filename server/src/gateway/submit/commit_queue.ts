/**
 * Commits in groups: many activities share one transaction and one sync to disk. What was committed is released in that order.
 * Organizations take turns (commit_turns.ts), and long commits go their own way beside the short ones: nobody's next tag waits behind
 * somebody's thousand users. While others are there, long ones also rest in between: nobody else can write to SQLite meanwhile, and
 * planning them is work of the gateway's one thread where there is no other for it. What they were carried with counts, too. And whoever
 * has more short ones than may come into one group rests until the others have had theirs: what is written for one is not for another.
 */
import { Fault } from "@keystead/core/fault.ts";
import { passed } from "../../state/steps.ts";
import type { CommitItem } from "../../store/commit_item.ts";
import { type Replies, replySizeOf } from "../bounds/admission_limits.ts";
import { type Presence, restAfter } from "../bounds/presence.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { CommitTurns, type Group, rowBytes, type Size } from "./commit_turns.ts";
import type { Releases } from "./releases.ts";
import type { Run } from "./run.ts";
import { toStoredLeaf } from "./stored_leaf.ts";

export type CommitOutcome = { kind: "committed"; result: string | undefined } | { kind: "conflict" };

type Entry = {
  organizationId: string;
  requires: readonly string[];
  item: CommitItem;
  /** Of the item itself. */
  held: number;
  /** What it takes to write. */
  bytes: number;
  run: Run;
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
};

/** What works off the groups of one size. */
type Lane = { readonly size: Size; isRunning: boolean; timer: NodeJS.Timeout | undefined };

/**
 * An organization that has so much here or on its way while others are there has its next requests wait in admission: there they are bounded for each
 * organization, and its callers take turns. Here its commits keep their order, so that whoever comes waits for all of them.
 */
const behindBytes = 1024 * 1024;

/** Of short ones. Nobody waits for their thread meanwhile, and a slow disk is nobody's work. */
const mostShortRestMs = 50;

const fullGroup = 32;
const maxWaitMs = 3;

/** What a byte costs before it can be committed: the signer writes and digests it, the socket carries it, both collect its buffers. */
const carriedMs = 4 / (1024 * 1024);

export class CommitQueue {
  readonly #link: SignerLink;
  readonly #releases: Releases;
  readonly #turns: CommitTurns<Entry>;
  readonly #lanes: readonly Lane[] = (["short", "long"] as const).map((size) => ({
    ...{ size, isRunning: false, timer: undefined },
  }));
  readonly #presence: Presence;
  readonly #held = { short: 0, long: 0 };
  readonly #heldOf = new Map<string, { bytes: number; count: number }>();

  constructor(link: SignerLink, releases: Releases, presence: Presence) {
    this.#link = link;
    this.#releases = releases;
    this.#presence = presence;
    this.#turns = new CommitTurns(presence.isAlone);
  }

  /** The bytes of what was given to it and is not answered yet. */
  get held(): Replies {
    return this.#held;
  }

  /**
   * What is under way is taken to become as long as what is here. Were it not counted, a burst would be let in whenever something is
   * committed, and everybody would wait for the signer to do it.
   */
  isBehind(organizationId: string, underWay: number): boolean {
    const held = this.#heldOf.get(organizationId);
    if (held === undefined || this.#presence.isAlone(organizationId)) return false;
    return held.bytes + underWay * (held.bytes / held.count) >= behindBytes;
  }

  commit(item: CommitItem, run: Run): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      const held = bytesIn(item);
      this.#hold(item.organizationId, held);
      this.#turns.add({
        organizationId: item.organizationId,
        requires: item.standing?.map(({ organizationId }) => organizationId) ?? [],
        item,
        held,
        bytes: held + rowsIn(item) * rowBytes,
        run,
        resolve: (outcome) => {
          this.#letGo(item.organizationId, held);
          resolve(outcome);
        },
        reject: (error) => {
          this.#letGo(item.organizationId, held);
          reject(error);
        },
      });
      this.#schedule();
    });
  }

  #hold(organizationId: string, bytes: number): void {
    this.#held[replySizeOf(bytes)] += bytes;
    const held = this.#heldOf.get(organizationId) ?? { bytes: 0, count: 0 };
    this.#heldOf.set(organizationId, { bytes: held.bytes + bytes, count: held.count + 1 });
  }

  #letGo(organizationId: string, bytes: number): void {
    this.#held[replySizeOf(bytes)] -= bytes;
    const held = this.#heldOf.get(organizationId);
    if (held === undefined || held.count === 1) this.#heldOf.delete(organizationId);
    else this.#heldOf.set(organizationId, { bytes: held.bytes - bytes, count: held.count - 1 });
  }

  #schedule(): void {
    for (const lane of this.#lanes) if (!lane.isRunning && this.#turns.hasNext(lane.size)) this.#scheduleLane(lane);
  }

  /**
   * A group waits for what the signer is still preparing, because it would want a transaction and a sync of its own next;
   * but never long, and not beyond a size that fills a sync anyway.
   */
  #scheduleLane(lane: Lane): void {
    if (this.#link.preparing() > 0 && this.#turns.lengthOf(lane.size) < fullGroup) {
      lane.timer ??= setTimeout(() => this.#start(lane), maxWaitMs);
      return;
    }
    this.#start(lane);
  }

  #start(lane: Lane): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    if (lane.isRunning) return;
    lane.isRunning = true;
    // Whatever else this turn of the loop brings joins the group.
    setImmediate(() => void this.#work(lane));
  }

  async #work(lane: Lane): Promise<void> {
    const turns = this.#turns;
    while (turns.hasNext(lane.size)) {
      const group = turns.next(lane.size);
      const current = group.entries.filter((entry) => {
        const isCurrent = entry.run.isCurrent();
        if (!isCurrent) entry.resolve({ kind: "conflict" });
        return isCurrent;
      });
      const workedMs = current.length > 0 ? await this.#commitGroup(current, lane.size) : 0;
      this.#end(group, workedMs);
      if (lane.size === "long") await this.#rest(current, workedMs);
    }
    lane.isRunning = false;
  }

  /** SQLite may have written in this very thread: who came meanwhile is read at least before the next one is written. */
  #rest(group: readonly Entry[], workedMs: number): Promise<void> {
    const isAlone = group.every(({ organizationId }) => this.#presence.isAlone(organizationId));
    const tookMs = group.reduce((sum, { held }) => sum + held * carriedMs, workedMs);
    return new Promise((resolve) => {
      if (isAlone) setImmediate(resolve);
      else setTimeout(resolve, restAfter(tookMs));
    });
  }

  /** What follows may be the other lane's. */
  #end(group: Group<Entry>, workedMs: number): void {
    this.#turns.over(group);
    this.#schedule();
    const restingCount = group.withheld.length;
    if (restingCount === 0) return;
    setTimeout(() => this.#giveBack(group), Math.min(restAfter(workedMs / restingCount), mostShortRestMs));
  }

  #giveBack(group: Group<Entry>): void {
    this.#turns.giveBack(group);
    this.#schedule();
  }

  /** How long was worked for it. */
  async #commitGroup(group: readonly Entry[], size: Size): Promise<number> {
    try {
      const items = group.map(({ item }) => item);
      const { committed, workedMs } = await this.#releases.commit(items, size === "long");
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
      if (done.length > 0) void this.#release(done);
      return workedMs;
    } catch (cause) {
      for (const { run, reject } of group) {
        run.abandon();
        reject(new Fault("unavailable", "the database did not commit; try again", { cause }));
      }
      return 0;
    }
  }

  async #release(done: readonly Entry[]): Promise<void> {
    try {
      const leaves = done.map(({ item }) => [item, ...(item.births ?? [])].map(toStoredLeaf));
      const outcomes = (await this.#releases.release(leaves.flat())).values();
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
}

/** The long parts of what is committed for one activity. */
function bytesIn(item: CommitItem): number {
  const { leaf, activity, sealedBody, appProofs, next, records = [], outbox = [], births = [], ...more } = item;
  const pages = next?.pages.reduce((sum, { content }) => sum + content.length, 0) ?? 0;
  const secrets = records.reduce((sum, { content, sealed }) => sum + content.length + sealed.length, 0);
  const bodies = item.changes.length + (activity?.body.length ?? 0) + (sealedBody?.sealed.length ?? 0);
  const proofs = appProofs?.contexts.reduce((sum, { content }) => sum + content.length, appProofs.sealed.length) ?? 0;
  const own = leaf.leaf.length + proofs + (leaf.sealed?.length ?? 0) + bodies + (activity?.result?.length ?? 0);
  const messages = outbox.reduce((sum, { sealed }) => sum + sealed.length, 0);
  const tokens = more.closed?.map(({ sealed }) => sealed) ?? [];
  const disclosed = [...(more.disclosed ?? []), ...tokens].reduce((sum, { length }) => sum + length, 0);
  return births.reduce((sum, birth) => sum + bytesIn(birth), own + pages + secrets + messages + disclosed);
}

/** Those of which there may be many: pages, records, and what changes. */
function rowsIn({ next, records = [], changes, births = [] }: CommitItem): number {
  const own =
    (next?.pages.length ?? 0) + records.length + (typeof changes === "string" ? countIn(changes) : changes.length);
  return births.reduce((sum, birth) => sum + rowsIn(birth), own);
}

/** Once in each change of the signer's JSON. Within a text its quotes would be escaped. */
const changeMark = '"op":"';

function countIn(changes: string): number {
  let count = 0;
  for (let at = changes.indexOf(changeMark); at >= 0; at = changes.indexOf(changeMark, at + changeMark.length))
    count += 1;
  return count;
}

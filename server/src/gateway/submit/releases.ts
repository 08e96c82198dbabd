/** Releases committed rows in their order, and has the database know what was released. */
import type { Place, Reply } from "../../frames/messages.ts";
import { passed } from "../../state/steps.ts";
import { commitGroup } from "../../store/commit.ts";
import type { CommitGroup, CommitItem, CommittedGroup, ReleasedLeaf } from "../../store/commit_item.ts";
import type { LongWriter } from "../../store/long_writer.ts";
import { loadHeaders } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { LogPlaces, TakenPlaces } from "../places/log_places.ts";
import type { RecentFailures } from "./recent_failures.ts";
import { Round, type RoundResult, releaseLimits, runRounds } from "./round.ts";
import { type StoredLeaf, toMark } from "./stored_leaf.ts";

export type ReleaseOutcome =
  | { kind: "released"; result: string | undefined; place: Place | undefined }
  | { kind: "refused"; message: string };

/** Marks that are written together, and the places that go with them. */
type Taken = { released: readonly ReleasedLeaf[]; placed: TakenPlaces["placed"] };

/** Headers of one organization that the signer lacks to place a row. */
type Gap = Extract<Reply<"release">[number], { kind: "again" }>["value"][number];

/** Each header once: rows of one request mostly lack the same. */
export async function loadGaps(store: Store, gaps: readonly Gap[]): Promise<Uint8Array[]> {
  const spans = new Map<string, Gap>();
  for (const gap of gaps) {
    const { organizationId, linksFrom, linksTo } = spans.get(gap.organizationId) ?? gap;
    spans.set(organizationId, {
      organizationId,
      linksFrom: Math.min(linksFrom, gap.linksFrom),
      linksTo: Math.max(linksTo, gap.linksTo),
    });
  }
  const links: Uint8Array[] = [];
  for (const { organizationId, linksFrom, linksTo } of spans.values()) {
    links.push(...(await loadHeaders(store, organizationId, linksFrom, linksTo)));
  }
  return links;
}

const noGaps: readonly Gap[] = [];

/** When no group comes to take a released result along, it is written by itself: others than the caller wait for it. */
const maxResultWaitMs = 20;

/** When the database did not take it, and no group comes to try again. */
const unsettledWaitMs = 1_000;

export class Releases {
  readonly #store: Store;
  readonly #longWriter: LongWriter | undefined;
  readonly #link: SignerLink;
  readonly #failures: RecentFailures;
  readonly #places: LogPlaces;
  /** Released, and not yet marked so in the database. */
  #marks: ReleasedLeaf[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** What is on its way to the database: nothing of it is left to take. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(store: Store, link: SignerLink, failures: RecentFailures, places: LogPlaces, longWriter?: LongWriter) {
    this.#longWriter = longWriter;
    this.#store = store;
    this.#link = link;
    this.#failures = failures;
    this.#places = places;
  }

  release(leaves: readonly StoredLeaf[]): Promise<ReleaseOutcome[]> {
    const round = new Round(releaseLimits, "of these rows");
    return runRounds(round, noGaps, (gaps) => this.#attempt(round, leaves, gaps));
  }

  /** The same for what was released before: it is marked already. */
  open(leaves: readonly StoredLeaf[]): Promise<ReleaseOutcome[]> {
    const round = new Round(releaseLimits, "of these rows");
    return runRounds(round, noGaps, (gaps) => this.#attempt(round, leaves, gaps, false));
  }

  /** Has something about a leaf that is released written with the next group. */
  note(mark: ReleasedLeaf): void {
    this.#marks.push(mark);
    this.#settleIn(maxResultWaitMs);
  }

  /** Commits a group, and with it the marks of what was released before. */
  async commit(items: readonly CommitItem[], isLong: boolean): Promise<CommittedGroup> {
    return this.#write(items, this.#takeMarks(), isLong);
  }

  /** Writes the marks and places alone. When it is over, what was released before it began is marked, whoever wrote it. */
  async settle(): Promise<void> {
    await this.#places.catchUp();
    const others = [...this.#underWay];
    const taken = this.#takeMarks();
    if (taken.released.length > 0 || taken.placed !== undefined) {
      passed("settling");
      await this.#write([], taken);
      passed("settled");
    }
    await Promise.all(others);
  }

  async #attempt(
    round: Round,
    leaves: readonly StoredLeaf[],
    gaps: readonly Gap[],
    marks = true,
  ): Promise<RoundResult<ReleaseOutcome[], Gap>> {
    const links = await loadGaps(this.#store, gaps);
    const rows = leaves.map(({ leaf, sealed }) => ({ leaf, sealed }));
    const asked = this.#link.request("release", { rows, links });
    const replies = await this.#failures.watch("release", "the signer did not release the last commit", asked);
    passed("released");
    const lacking = replies.flatMap((reply) => (reply.kind === "again" ? reply.value : []));
    // The signer keeps no header that was brought: what was lacking before is brought along again.
    const needs = [...gaps, ...lacking];
    if (lacking.length > 0 && !round.isLastAttempt) return { kind: "again", reason: "lacking", needs };
    return {
      kind: "done",
      value: replies.map((reply, index) => this.#outcomeOf(reply, marks ? leaves[index] : undefined)),
    };
  }

  #outcomeOf(reply: Reply<"release">[number], leaf: StoredLeaf | undefined): ReleaseOutcome {
    if (reply.kind === "again") return { kind: "refused", message: "headers are missing in the database" };
    if (reply.kind === "refused") return { kind: "refused", message: reply.value.message };
    const { result, place } = reply.value;
    if (leaf !== undefined) {
      this.#marks.push(toMark(leaf, result));
      // Its place came with an earlier reply, if that came. A mark must not be stored before the place is.
      if (place === undefined) this.#places.fallBehind();
      if (result !== undefined) this.#settleIn(maxResultWaitMs);
    }
    return { kind: "released", result, place };
  }

  async #write(items: readonly CommitItem[], taken: Taken, isLong = false): Promise<CommittedGroup> {
    const writing = this.#writeTaken(items, taken, isLong);
    this.#underWay.add(writing);
    try {
      return await writing;
    } finally {
      this.#underWay.delete(writing);
    }
  }

  async #writeTaken(
    items: readonly CommitItem[],
    { released, placed }: Taken,
    isLong: boolean,
  ): Promise<CommittedGroup> {
    try {
      const written = this.#commitGroup(isLong, items, released, placed);
      const group = await this.#failures.watch("commit", "the database did not take the last commit", written);
      this.#places.written(placed);
      return group;
    } catch (error) {
      this.#places.failed(placed);
      this.#putBack(released);
      throw error;
    }
  }

  #commitGroup(isLong: boolean, ...group: CommitGroup): Promise<CommittedGroup> {
    const writer = isLong ? this.#longWriter : undefined;
    return writer?.isOpen === true ? writer.commit(...group) : commitGroup(this.#store, ...group);
  }

  /** None while places are lacking: they are written with those. */
  #takeMarks(): Taken {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { isReady, placed } = this.#places.take();
    if (!isReady) {
      if (this.#marks.length > 0) this.#settleIn(maxResultWaitMs);
      return { released: [], placed: undefined };
    }
    const released = this.#marks;
    this.#marks = [];
    return { released, placed };
  }

  #putBack(released: readonly ReleasedLeaf[]): void {
    this.#marks = [...released, ...this.#marks];
    if (this.#marks.length > 0) this.#settleIn(unsettledWaitMs);
  }

  #settleIn(ms: number): void {
    this.#timer ??= setTimeout(() => void this.settle().catch(() => undefined), ms);
    // Who ends settles once more, and does not wait for a database that is away.
    this.#timer.unref();
  }
}

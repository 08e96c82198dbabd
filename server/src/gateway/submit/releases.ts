/** Releases committed rows in their order, and has the database know what was released. */
import type { Reply } from "../../frames/messages.ts";
import { passed } from "../../state/steps.ts";
import { commitGroup } from "../../store/commit.ts";
import type { CommitItem, ReleasedLeaf } from "../../store/commit_item.ts";
import { loadHeaders } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { RecentFailures } from "./recent_failures.ts";
import { Round, type RoundResult, releaseLimits, runRounds } from "./round.ts";
import { type StoredLeaf, toMark } from "./stored_leaf.ts";

export type ReleaseOutcome = { kind: "released"; result: string | undefined } | { kind: "refused"; message: string };

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
  readonly #link: SignerLink;
  readonly #failures: RecentFailures;
  /** Released, and not yet marked so in the database. */
  #marks: ReleasedLeaf[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store, link: SignerLink, failures: RecentFailures) {
    this.#store = store;
    this.#link = link;
    this.#failures = failures;
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
  async commit(items: readonly CommitItem[]): Promise<readonly boolean[]> {
    const released = this.#takeMarks();
    try {
      return await this.#write(items, released);
    } catch (error) {
      this.#putBack(released);
      throw error;
    }
  }

  /** Writes the marks alone. */
  async settle(): Promise<void> {
    const released = this.#takeMarks();
    if (released.length === 0) return;
    try {
      passed("settling");
      await this.#write([], released);
      passed("settled");
    } catch (error) {
      this.#putBack(released);
      throw error;
    }
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
    const { result } = reply.value;
    if (leaf !== undefined) this.#marks.push(toMark(leaf, result));
    if (leaf !== undefined && result !== undefined) this.#settleIn(maxResultWaitMs);
    return { kind: "released", result };
  }

  async #write(items: readonly CommitItem[], released: readonly ReleasedLeaf[]): Promise<readonly boolean[]> {
    const written = commitGroup(this.#store, items, released);
    return (await this.#failures.watch("commit", "the database did not take the last commit", written)).committed;
  }

  #takeMarks(): ReleasedLeaf[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const released = this.#marks;
    this.#marks = [];
    return released;
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

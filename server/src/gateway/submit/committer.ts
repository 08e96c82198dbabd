/**
 * Commits in groups, releases in commit order. Many activities share one transaction and one sync to disk; what was
 * committed is released by the signer before anybody is answered, and marked as released with the next group.
 */
import type { CommitItem } from "../../store/commit_item.ts";
import type { LongWriter } from "../../store/long_writer.ts";
import type { Store } from "../../store/store.ts";
import type { Replies } from "../bounds/admission_limits.ts";
import { createPresence, type Presence } from "../bounds/presence.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { LogPlaces } from "../places/log_places.ts";
import { type CommitOutcome, CommitQueue } from "./commit_queue.ts";
import { releaseLeftovers } from "./leftovers.ts";
import { createProofOpening, type ProofOpening } from "./proof_opening.ts";
import { RecentFailures } from "./recent_failures.ts";
import { type ReleaseOutcome, Releases } from "./releases.ts";
import type { Run } from "./run.ts";
import type { StoredLeaf } from "./stored_leaf.ts";

export type Committer = ProofOpening & {
  /** A conflict abandons the run at once, so that nothing behind it in the queue commits on a state that never was. */
  commit(item: CommitItem, run: Run): Promise<CommitOutcome>;
  /** Releases rows that are committed already: what a crash left behind, or a repeated body finds unreleased. */
  release(leaves: readonly StoredLeaf[]): Promise<ReleaseOutcome[]>;
  /** The results of rows that were released before, as they were then. Nothing is written. */
  open(leaves: readonly StoredLeaf[]): Promise<ReleaseOutcome[]>;
  /** Releases every committed row that nobody has opened yet; the messages of those the signer refuses. */
  releaseLeftovers(): Promise<string[]>;
  /** Writes down what was released last. */
  settle(): Promise<void>;
  /** The bytes of what was given to it and is not answered yet. */
  held(): Replies;
  /** Whether one organization has so much of that, while others are there, that nothing should be added to it. */
  isBehind(organizationId: string, underWay: number): boolean;
  /** Why the newest commit or release failed; undefined once one has succeeded, or when that is too long ago to tell. */
  trouble(): string | undefined;
};

type CommitterOptions = { places?: LogPlaces; presence?: Presence; longWriter?: LongWriter | undefined };

/** Without places that a join has begun, none are kept; without a presence nobody else is ever there. */
export function createCommitter(
  store: Store,
  link: SignerLink,
  { places = new LogPlaces(link), presence = createPresence(), longWriter }: CommitterOptions = {},
): Committer {
  const failures = new RecentFailures();
  const releases = new Releases(store, link, failures, places, longWriter);
  const queue = new CommitQueue(link, releases, presence);
  return {
    ...createProofOpening(store, link, releases),
    commit: (item, run) => queue.commit(item, run),
    release: (leaves) => releases.release(leaves),
    open: (leaves) => releases.open(leaves),
    releaseLeftovers: () => releaseLeftovers(store, releases),
    settle: () => releases.settle(),
    held: () => queue.held,
    isBehind: (organizationId, underWay) => queue.isBehind(organizationId, underWay),
    trouble: () => failures.newest(),
  };
}

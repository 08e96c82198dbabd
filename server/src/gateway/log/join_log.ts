/**
 * What a gateway does about the log when a signer has joined, before anybody is served: the log is listed, the database has every place that
 * the signer has given, and no other, and leaves of a database from before are taken in. Cut short anywhere, it is simply done again.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Reply } from "../../frames/messages.ts";
import { type LeafRow, listLeaves } from "../../store/across.ts";
import { findLeaf } from "../../store/leaves.ts";
import type { NamedPlace } from "../../store/log_rows.ts";
import { findStoredEnd, keepLog, noteEndedLogs } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { dropPlaces, storedPlaces } from "../../store/stored_places.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { LogPlaces } from "../places/log_places.ts";
import type { Committer } from "../submit/committer.ts";
import { toLeftover } from "../submit/stored_leaf.ts";
import { listedLogs } from "./listed_logs.ts";
import { openLog, releaseListing } from "./open_log.ts";

export type JoinLogDependencies = {
  store: Store;
  link: Pick<SignerLink, "request">;
  committer: Committer;
  places: LogPlaces;
  /** Has what is stored signed: then the signer may forget it. */
  sign(): Promise<void>;
  /** For the operator. */
  note(message: string): void;
};

type LogState = NonNullable<Reply<"logState">>;

/** False where the log is not listed and nobody who serves has joined: nothing can be released then. */
export async function joinLog(dependencies: JoinLogDependencies, { serves }: { serves: boolean }): Promise<boolean> {
  const { link } = dependencies;
  let state = await link.request("logState", {});
  if (state !== undefined && !state.isListed) {
    await bringListing(dependencies, state);
    state = await link.request("logState", {});
  }
  if (state?.isListed !== true) {
    if (!serves) return false;
    await openLog(dependencies);
    state = await link.request("logState", {});
  }
  if (state?.isListed !== true) throw new Fault("unavailable", "the signer's log could not be listed; try again");
  await keepPlaces(dependencies, state);
  if (serves && state.isOwed) await takeIn(dependencies);
  return true;
}

/** The act that lists the log may be committed already: a crash, or a power cut, has kept the signer from knowing it. */
async function bringListing(dependencies: JoinLogDependencies, { logId }: LogState): Promise<void> {
  const { store, committer } = dependencies;
  const id = toHex(logId);
  for await (const [first] of storedPlaces(store, id, 0)) {
    const leaf = first && (await findLeaf(store, first.organizationId, first.boot, first.number));
    if (leaf !== undefined) await committer.release([toLeftover(leaf)]);
    return;
  }
  await releaseListing(dependencies, logId);
}

/** From here on the database has the places of this log. */
export async function keepPlaces(dependencies: JoinLogDependencies, state: LogState): Promise<void> {
  const { store, committer, places } = dependencies;
  const logId = toHex(state.logId);
  await keepLog(store, logId, state.origin, Date.now());
  await noteFollowed(dependencies);
  const stored = await findStoredEnd(store, logId);
  places.begin(logId, stored, state.size);
  if (stored > state.size) await releaseAgain(dependencies, logId, state.size);
  await places.catchUp();
  await committer.settle();
}

/** Which logs another one follows. A list that was changed must not stop those who have nothing to do with it. */
async function noteFollowed({ store, note }: JoinLogDependencies): Promise<void> {
  const listed = await listedLogs(store);
  if (listed === undefined) {
    note("the first organization's list of logs was changed; stop the server and run `npx keystead check-database`");
    return;
  }
  const followed = Array.from(listed.values(), ({ previous }) => previous?.logId ?? []);
  await noteEndedLogs(store, followed.flat());
}

/**
 * A power cut has taken the end of the signer's log, and nobody was shown it. Its leaves are released again in the same order, so that each
 * gets the place that is stored for it. Where one does not, the rest is forgotten, and stored as it comes.
 */
async function releaseAgain(dependencies: JoinLogDependencies, logId: string, size: number): Promise<void> {
  const { store, places, note } = dependencies;
  note(`the signer has lost its log from position ${size} on; the leaves that stood there are released again`);
  for await (const stored of storedPlaces(store, logId, size)) {
    const wrong = await findMisplaced(dependencies, stored);
    if (wrong === undefined) continue;
    await dropPlaces(store, logId, wrong);
    places.restart(wrong);
    return;
  }
}

/** The first position that does not come out as it is stored. */
async function findMisplaced(
  { store, committer }: JoinLogDependencies,
  stored: readonly NamedPlace[],
): Promise<number | undefined> {
  const found = await Promise.all(
    stored.map(({ organizationId, boot, number }) => findLeaf(store, organizationId, boot, number)),
  );
  const missing = found.indexOf(undefined);
  const leaves = found.slice(0, missing < 0 ? undefined : missing).flatMap((leaf) => leaf ?? []);
  const outcomes = leaves.length === 0 ? [] : await committer.release(leaves.map(toLeftover));
  const wrong = stored.findIndex(({ position, ordinal }, index) => {
    const outcome = outcomes[index];
    const place = outcome?.kind === "released" ? outcome.place : undefined;
    return place?.position !== position || place.ordinal !== ordinal;
  });
  return stored[wrong]?.position;
}

const leavesAtOnce = 500;
/** The signer takes no more than 100,000 that no checkpoint covers. */
const leavesPerCheckpoint = 25_000;
/** Half of what a frame carries. */
const maxPortionBytes = 4 * 1024 * 1024;

/** Leaves of a database from before the log, in the order in which they stand there from now on: by organization, boot and number. */
async function takeIn({ store, link, committer, places, sign, note }: JoinLogDependencies): Promise<void> {
  let after: LeafRow | undefined;
  let signedAt = places.stored;
  for (;;) {
    const read: LeafRow[] = await listLeaves(store, after, leavesAtOnce);
    const rows = firstPortion(read);
    const last = rows.length === read.length && read.length < leavesAtOnce;
    const reply = await link.request("takeIn", { leaves: rows.map(({ leaf }) => leaf), last });
    for (const [index, place] of reply.places.entries()) {
      const row = rows[index];
      if (row === undefined || place === undefined) continue;
      const { organizationId, boot, number } = row;
      const { position, ordinal, entry } = place;
      places.add({ organizationId, boot, number, position, ordinal, entry: Uint8Array.from(entry) });
    }
    await committer.settle();
    if (places.stored - signedAt >= leavesPerCheckpoint) {
      await sign();
      signedAt = places.stored;
    }
    after = rows.at(-1) ?? after;
    if (!last) continue;
    for (const { boot, first, last: end } of reply.missing) {
      note(
        `leaves ${first} to ${end} of signer boot ${toHex(boot)} were released and are not in the database: ` +
          "the log is without them; `npx keystead check-log` says what to do",
      );
    }
    return;
  }
}

function firstPortion(rows: readonly LeafRow[]): LeafRow[] {
  let length = 0;
  const fits = rows.findIndex(({ leaf }) => {
    length += leaf.length;
    return length > maxPortionBytes;
  });
  return fits < 0 ? [...rows] : rows.slice(0, Math.max(1, fits));
}

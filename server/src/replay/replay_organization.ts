/**
 * Executes the log of one organization anew, from its birth, act by act. Acts are taken in the order of states: after each, those that
 * were decided on what it led to. After a restored backup there may be two lines, and each is followed.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { type Entry, isActIn, type OrganizationLog } from "./exported.ts";
import { createRecordShelf, type RecordShelf } from "./record_shelf.ts";
import { redo } from "./redo.ts";
import { redoBirth } from "./redo_birth.ts";
import type { Redone, Site } from "./redone.ts";
import type { ReplayState } from "./replay_state.ts";
import type { World } from "./world.ts";

/** What was found about one leaf. `index`: its place in the export's list. */
export type Difference = { index: number; what: string };

export type OrganizationReplay = {
  /** Acts that were executed anew. */
  acts: number;
  differences: Difference[];
  /** What could not be held against anything. */
  unchecked: Difference[];
  /** All acts were executed. */
  isWhole: boolean;
  /** Where the newest line ends. */
  end: { state: ReplayState; records: RecordShelf } | undefined;
};

type Frame = { state: ReplayState; rest: Entry[]; records: number; executed: number };

export function replayOrganization(world: World, log: OrganizationLog): OrganizationReplay {
  const found: OrganizationReplay = { acts: 0, differences: [], unchecked: [], isWhole: false, end: undefined };
  const site: Site = { log, records: createRecordShelf(), executed: [] };
  const open = new Set(log.entries.filter((entry) => isActIn(log.organizationId, entry)));
  const byState = Map.groupBy(open, ({ before, leaf }) => (leaf.event === "BIRTH" ? "" : (before ?? "")));
  const frames: Frame[] = [];
  let isLost = false;

  function note(entry: Entry, { differences, unchecked, isLost: ends = false }: Redone): void {
    const add = (list: Difference[]) => (what: string) => list.push({ index: entry.index, what: said(entry, what) });
    differences.forEach(add(found.differences));
    unchecked.forEach(add(found.unchecked));
    if (ends || differences.length > 0) isLost = true;
  }

  /** Executes the act, and opens what was decided on the state that it led to. */
  function take(entry: Entry, act: () => Redone): void {
    open.delete(entry);
    found.acts += 1;
    const redone = attempt(act);
    note(entry, redone);
    if (redone.state === undefined || isLost) return;
    found.end = { state: redone.state, records: site.records };
    if (world.isNeeded(redone.state.digest)) world.states.set(redone.state.digest, redone.state);
    const rest = [...(byState.get(redone.state.digest) ?? [])].sort(inOrder);
    frames.push({ state: redone.state, rest, records: site.records.size, executed: site.executed.length });
  }

  const [birth, ...others] = byState.get("") ?? [];
  if (birth?.leaf.event !== "BIRTH") {
    found.unchecked.push({ index: 0, what: "undisclosed: the birth of the organization" });
    return found;
  }
  take(birth, () => redoBirth(world, site, birth));
  for (const entry of others) note(entry, { differences: ["is a second birth"], unchecked: [] });
  // One broken thing breaks all that follows: what comes after it says nothing.
  while (!isLost) {
    const frame = frames.at(-1);
    const entry = frame?.rest.shift();
    if (frame === undefined) break;
    if (entry === undefined) {
      frames.pop();
      continue;
    }
    if (entry.after !== undefined) {
      site.records.cut(frame.records);
      site.executed.length = frame.executed;
    }
    take(entry, () => redo(world, site, entry, frame.state));
    if (entry.after === undefined) frame.records = site.records.size;
  }
  found.isWhole = !isLost && open.size === 0;
  if (!isLost) noteUnreached(found, [...open].sort(inOrder));
  else if (open.size > 0) found.unchecked.push({ index: firstOf(open), what: `${open.size} acts after that` });
  return log.undisclosed === 0 ? found : withDoubts(found);
}

/** A leaf that is not shown may have made what an act looks at: nobody can tell. */
function withDoubts({ differences, unchecked, ...found }: OrganizationReplay): OrganizationReplay {
  const doubts = differences.map(({ index, what }) => ({
    index,
    what: `${what}, which may rest on a leaf that is not shown`,
  }));
  return { ...found, differences: [], unchecked: [...unchecked, ...doubts] };
}

function attempt(act: () => Redone): Redone {
  try {
    return act();
  } catch (error) {
    return { differences: [error instanceof Error ? error.message : String(error)], unchecked: [] };
  }
}

/** Acts on states that nothing leads to: a leaf between is missing, or names another state than it led to. */
function noteUnreached({ differences }: OrganizationReplay, [first, ...others]: readonly Entry[]): void {
  if (first === undefined) return;
  const more = others.length === 0 ? "" : `, and ${others.length} more after it`;
  differences.push({
    index: first.index,
    what: said(first, `was decided on a state that no other leaf leads to${more}`),
  });
}

function firstOf(entries: ReadonlySet<Entry>): number {
  return [...entries].reduce((first, { index }) => Math.min(first, index), Number.POSITIVE_INFINITY);
}

function said({ leaf }: Entry, what: string): string {
  const name =
    leaf.activityType === "" ? leaf.event : `${leaf.event} ${leaf.activityType} ${uuidFromBytes(leaf.activityId)}`;
  return `${name}: ${what}`;
}

/** What leaves the state as it is comes first, and codes before who answers them. Two lines: the later one last. */
function inOrder(a: Entry, b: Entry): number {
  return rank(a) - rank(b) || a.leaf.timeMs - b.leaf.timeMs || a.leaf.number - b.leaf.number;
}

function rank({ after, leaf }: Entry): number {
  if (after !== undefined) return 2;
  return startsCode(leaf) ? 0 : 1;
}

function startsCode({ activityType }: Leaf): boolean {
  return activityType.startsWith("ACTIVITY_TYPE_INIT_OTP");
}

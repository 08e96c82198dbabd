/**
 * Places of leaves as rows. What was released together is a few rows, however many leaves it was: entries by tile, and for each organization
 * a run, which names its leaves. Layouts: SPEC.md in this folder.
 */

import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decode, encode, fixed, list, struct, u32, u64, type ValueOf } from "@keystead/core/encoding/layout.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { tileWidth } from "@keystead/core/tlog/tiles.ts";
import type { Tables } from "./tables.ts";

/** A leaf by its name, where it stands in a log, and which of its organization's it is; 0 for an act of the operator. */
export type NamedPlace = {
  organizationId: string;
  boot: string;
  number: number;
  position: number;
  ordinal: number;
};

export type PlacedLeaf = NamedPlace & { entry: Uint8Array };

/** Leaves of one log in the order of their positions. */
export type PlacedLeaves = { logId: string; leaves: readonly PlacedLeaf[] };

export const entryLength = 32;
const idLength = 16;

/** Leaves whose positions, ordinals and numbers follow on each other. */
const spanLayout = struct({ position: u64, ordinal: u64, boot: fixed(idLength), number: u64, count: u32 });
const spansLayout = list(spanLayout);

type Span = ValueOf<typeof spanLayout>;

export type LogRows = { entries: Tables["log_entries"][]; runs: Tables["log_runs"][] };

export function toLogRows({ logId, leaves }: PlacedLeaves): LogRows {
  const runs = new Map<string, PlacedLeaf[]>();
  for (const leaf of leaves) {
    const name = `${leaf.organizationId} ${leaf.ordinal === 0}`;
    const run = runs.get(name);
    if (run === undefined) runs.set(name, [leaf]);
    else run.push(leaf);
  }
  return {
    entries: inTiles(leaves).map((portion) => entriesRow(logId, portion)),
    runs: Array.from(runs.values(), (run) => runRow(logId, run)),
  };
}

/** Without a gap, and each within one tile. */
function inTiles(leaves: readonly PlacedLeaf[]): PlacedLeaf[][] {
  const portions: PlacedLeaf[][] = [];
  for (const leaf of leaves) {
    const portion = portions.at(-1);
    const last = portion?.at(-1)?.position;
    if (portion !== undefined && last === leaf.position - 1 && leaf.position % tileWidth !== 0) portion.push(leaf);
    else portions.push([leaf]);
  }
  return portions;
}

function entriesRow(logId: string, leaves: readonly PlacedLeaf[]): Tables["log_entries"] {
  const organizations = [...new Set(leaves.map(({ organizationId }) => organizationId))].map(uuidToBytes);
  return {
    log_id: logId,
    first_position: leaves[0]?.position ?? 0,
    organizations: Buffer.concat(organizations),
    entries: Buffer.concat(leaves.map(({ entry }) => entry)),
  };
}

/** Of leaves of one organization, or of acts of the operator. */
export function runRow(logId: string, leaves: readonly NamedPlace[]): Tables["log_runs"] {
  const [first, last] = [leaves[0], leaves.at(-1)];
  if (first === undefined || last === undefined) throw new Fault("internal", "a run without leaves");
  return {
    organization_id: first.organizationId,
    log_id: logId,
    first_position: first.position,
    last_position: last.position,
    first_ordinal: first.ordinal,
    leaves: encode(spansLayout, toSpans(leaves)),
  };
}

function toSpans(leaves: readonly NamedPlace[]): Span[] {
  const spans: Span[] = [];
  let boot = "";
  for (const leaf of leaves) {
    const span = spans.at(-1);
    if (span !== undefined && leaf.boot === boot && follows(span, leaf)) span.count += 1;
    else {
      boot = leaf.boot;
      const { position, ordinal, number } = leaf;
      spans.push({ position, ordinal, boot: fromHex(boot), number, count: 1 });
    }
  }
  return spans;
}

/** Acts of the operator have no ordinals that could. */
function follows({ position, ordinal, number, count }: Span, leaf: NamedPlace): boolean {
  return (
    ordinal > 0 &&
    leaf.position === position + count &&
    leaf.ordinal === ordinal + count &&
    leaf.number === number + count
  );
}

/** More than a signer releases at once: a row that somebody has changed must not fill the memory. */
const maxRunLength = 1_000_000;

/** The leaves of a run, in the order of their positions. A row that is none is refused. */
export function readRun({
  organization_id,
  leaves,
}: Pick<Tables["log_runs"], "organization_id" | "leaves">): NamedPlace[] {
  const spans = decode(spansLayout, leaves);
  if (spans.reduce((sum, { count }) => sum + count, 0) > maxRunLength)
    throw new Fault("failed_precondition", "a run of the log is longer than any");
  return spans.flatMap(({ position, ordinal, boot, number, count }) => {
    const name = toHex(boot);
    return Array.from({ length: count }, (_, at) => ({
      organizationId: organization_id,
      boot: name,
      number: number + at,
      position: position + at,
      ordinal: ordinal === 0 ? 0 : ordinal + at,
    }));
  });
}

export function readOrganizations({ organizations }: Pick<Tables["log_entries"], "organizations">): string[] {
  return portionsOf(organizations, idLength).map(uuidFromBytes);
}

export function readEntries({ entries }: Pick<Tables["log_entries"], "entries">): Uint8Array[] {
  return portionsOf(entries, entryLength);
}

function portionsOf(bytes: Uint8Array, length: number): Uint8Array[] {
  if (bytes.length % length !== 0) throw new Fault("failed_precondition", "a row of the log is cut off");
  return Array.from({ length: bytes.length / length }, (_, at) => bytes.subarray(at * length, (at + 1) * length));
}

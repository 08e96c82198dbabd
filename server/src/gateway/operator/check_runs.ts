/** Where an organization's leaves stand in logs: every leaf that a run names must have its own entry there, and none may be left out. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type NamedPlace, readRun, runRow } from "../../store/log_rows.ts";
import { differingColumns } from "../../store/projection.ts";
import type { Inside } from "../../store/projection_rows.ts";
import { deleteRow, insertRow, rowsOf, rowsWith, updateRow } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { Findings } from "./check_findings.ts";
import type { CheckedLog, LogsById } from "./check_public_log.ts";
import { entryOfLeaf } from "./log_rows_check.ts";

export type RunsCheck = {
  tx: Inside;
  organizationId: string;
  logs: LogsById;
  findings: Findings;
};

const rowsAtOnce = 200;

/** More than that would take hours, and only a backup helps then. */
const maxTries = 20_000_000;

export async function checkRuns(check: RunsCheck): Promise<void> {
  const { tx, organizationId, logs, findings } = check;
  const right = new Map<string, NamedPlace[]>();
  /** Rows under another key than theirs come last: two may have each other's. */
  const moved: Tables["log_runs"][] = [];
  for await (const rows of rowsOf(tx, "log_runs", organizationId, rowsAtOnce)) {
    for (const row of rows) {
      const log = logs.get(row.log_id);
      // What is said of a log that cannot be read may be all that is left of it.
      if (log === undefined && logs.has(row.log_id)) continue;
      const named = readable(row) ?? [];
      if (log?.isUntold(named) === true) {
        findings.lost(`log_runs ${nameOf(row)}: more leaves that it names are not there than can be looked for`);
        continue;
      }
      const isPossible = log?.holds(named) === true;
      const places = isPossible ? await placesIn(check, log, row, named) : undefined;
      if (places === undefined) {
        if (isPossible) for (const place of named) log.disown(place);
        if (findings.differs(`log_runs ${nameOf(row)}: it names leaves that do not stand there`))
          await deleteRow(tx, "log_runs", row);
        continue;
      }
      await compareColumns(check, row, places, moved);
      right.set(row.log_id, [...(right.get(row.log_id) ?? []), ...places]);
    }
  }
  for (const row of moved) await insertRow(tx, "log_runs", row);
  for (const log of logs.values()) {
    if (log !== undefined && log.unnamed.size > 0) await findUnnamed(check, log, right.get(log.logId) ?? []);
  }
}

function nameOf({ log_id, first_position }: Tables["log_runs"]): string {
  return `${log_id} ${first_position}`;
}

/** Undefined when they are not what they should be. */
async function placesIn(
  { tx, organizationId, findings }: RunsCheck,
  log: CheckedLog,
  row: Tables["log_runs"],
  places: readonly NamedPlace[],
): Promise<readonly NamedPlace[] | undefined> {
  if (places.length === 0 || places.some(log.isForeign)) return undefined;
  const leaves = await leavesOf(tx, organizationId, places);
  const gone: Entry[] = [];
  for (const { boot, number, position, ordinal } of places) {
    const leaf = leaves.get(`${boot} ${number}`);
    const entry = await log.entryAt(tx, position);
    if (entry === undefined) return undefined;
    if (leaf === undefined) {
      gone.push({ ordinal, entry: toHex(entry) });
      continue;
    }
    const own = entryOfLeaf(leaf, ordinal);
    if (own === undefined || toHex(own) !== toHex(entry)) return undefined;
  }
  // A leaf that is gone is `check-log`'s to miss: what named it stays, unless another leaf stands there.
  const other = gone.length > 0 ? await isOfAnother(tx, organizationId, gone) : false;
  if (other === "untold")
    findings.lost(`log_runs ${nameOf(row)}: too many of its leaves are gone to tell what stands there`);
  return other === true ? undefined : places;
}

type Entry = { ordinal: number; entry: string };

/** Whether a leaf of the organization is what one of these entries was made of. */
async function isOfAnother(tx: Inside, organizationId: string, entries: readonly Entry[]): Promise<boolean | "untold"> {
  let tries = 0;
  for await (const rows of rowsOf(tx, "leaves", organizationId, rowsAtOnce)) {
    tries += rows.length * entries.length;
    if (tries > maxTries) return "untold";
    for (const { leaf } of rows) {
      for (const { ordinal, entry } of entries) {
        const own = entryOfLeaf(leaf, ordinal);
        if (own !== undefined && toHex(own) === entry) return true;
      }
    }
  }
  return false;
}

function readable(row: Tables["log_runs"]): NamedPlace[] | undefined {
  try {
    return readRun(row);
  } catch {
    return undefined;
  }
}

async function leavesOf(
  tx: Inside,
  organizationId: string,
  places: readonly Pick<NamedPlace, "number">[],
): Promise<Map<string, Uint8Array>> {
  const leaves = new Map<string, Uint8Array>();
  for (let at = 0; at < places.length; at += rowsAtOnce) {
    const numbers = [...new Set(places.slice(at, at + rowsAtOnce).map(({ number }) => number))];
    for (const { boot, number, leaf } of await rowsWith(tx, "leaves", organizationId, "number", numbers)) {
      leaves.set(`${boot} ${number}`, leaf);
    }
  }
  return leaves;
}

async function compareColumns(
  { tx, findings }: RunsCheck,
  row: Tables["log_runs"],
  places: readonly NamedPlace[],
  moved: Tables["log_runs"][],
): Promise<void> {
  const own = runRow(row.log_id, places);
  const columns = differingColumns(own, row);
  if (columns.length === 0) return;
  if (!findings.differs(`log_runs ${nameOf(row)}: ${columns.join(", ")} not as in its leaves`)) return;
  if (own.first_position === row.first_position) await updateRow(tx, "log_runs", row, own);
  else {
    await deleteRow(tx, "log_runs", row);
    moved.push(own);
  }
}

/** Entries that no run names may be of leaves of this organization that none names: which, their hashes tell. */
async function findUnnamed(
  { tx, organizationId, findings }: RunsCheck,
  log: CheckedLog,
  named: readonly NamedPlace[],
): Promise<void> {
  const positions = new Map<string, number>();
  for (const position of log.unnamed) {
    const entry = await log.entryAt(tx, position);
    if (entry !== undefined) positions.set(toHex(entry), position);
  }
  const leaves = await unnamedLeaves(tx, organizationId, named);
  const ordinals = freeOrdinals(named, positions.size);
  if (leaves.length * ordinals.length > maxTries) return;
  const found: NamedPlace[] = [];
  for (const { boot, number, leaf } of leaves) {
    for (const ordinal of ordinals) {
      const entry = entryOfLeaf(leaf, ordinal);
      const position = entry && positions.get(toHex(entry));
      if (position === undefined) continue;
      found.push({ organizationId, boot, number, position, ordinal });
      break;
    }
  }
  for (const run of inRuns(found, named)) {
    const row = runRow(log.logId, run);
    for (const { position } of run) log.unnamed.delete(position);
    if (findings.differs(`log_runs ${nameOf(row)}: it is missing`)) await insertRow(tx, "log_runs", row);
  }
}

async function unnamedLeaves(tx: Inside, organizationId: string, named: readonly NamedPlace[]) {
  const names = new Set(named.map(({ boot, number }) => `${boot} ${number}`));
  const leaves: { boot: string; number: number; leaf: Uint8Array }[] = [];
  for await (const rows of rowsOf(tx, "leaves", organizationId, rowsAtOnce)) {
    for (const { boot, number, leaf } of rows) if (!names.has(`${boot} ${number}`)) leaves.push({ boot, number, leaf });
  }
  return leaves;
}

/** Those that no run has, as many behind the last as could be missing; and none, of acts of the operator. */
function freeOrdinals(named: readonly NamedPlace[], missing: number): number[] {
  const taken = new Set(named.map(({ ordinal }) => ordinal));
  const last = named.reduce((most, { ordinal }) => Math.max(most, ordinal), 0);
  return [0, ...Array.from({ length: last + missing }, (_, at) => at + 1).filter((ordinal) => !taken.has(ordinal))];
}

/** In the order of positions, apart where a run that is there lies between them, and acts of the operator by themselves. */
function inRuns(found: readonly NamedPlace[], named: readonly NamedPlace[]): NamedPlace[][] {
  const sorted = [...found].sort((a, b) => a.position - b.position);
  const others = named.map(({ position }) => position).sort((a, b) => a - b);
  const runs: NamedPlace[][] = [];
  for (const place of sorted) {
    const run = runs.findLast((each) => (each[0]?.ordinal === 0) === (place.ordinal === 0));
    const last = run?.at(-1)?.position;
    const isApart = last === undefined || others.some((position) => position > last && position < place.position);
    if (run === undefined || isApart) runs.push([place]);
    else run.push(place);
  }
  return runs;
}

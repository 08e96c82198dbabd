/**
 * The public log as rows: checkpoints, tiles, entries, and the runs that say whose leaves stand there. The signed root is what all of it must
 * add up to; what is made of something else is rebuilt from that.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { isUuid } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { logOrigin, logVkey } from "@keystead/core/log/log_name.ts";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { tileWidth } from "@keystead/core/tlog/tiles.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import type { Reply } from "../../frames/messages.ts";
import { unlessAway } from "../../store/database_away.ts";
import {
  entriesOfTile,
  findLastTile,
  leafName,
  leavesOfAnybody,
  leavesThere,
  listLogIds,
  runsOfLog,
} from "../../store/log_checks.ts";
import { entryLength, type NamedPlace, readEntries } from "../../store/log_rows.ts";
import type { Inside } from "../../store/projection_rows.ts";
import { findLog, keepLog, type LogRow, storeCheckpoint } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { listedLogs } from "../log/listed_logs.ts";
import { findingsOfLog, type OrganizationFindings } from "./check_findings.ts";
import { checkLogRows } from "./log_rows_check.ts";

/** A log as the organizations' runs are held against it. */
export type CheckedLog = {
  logId: string;
  /** Positions that no run names. */
  unnamed: Set<number>;
  /** Whether a run can be one at all: it ends where the log ends at the latest. */
  holds(places: readonly NamedPlace[]): boolean;
  /** Whether a run names more leaves that are not there than can be looked for. */
  isUntold(places: readonly NamedPlace[]): boolean;
  /** Whether the leaf that a run names is another organization's. */
  isForeign(place: NamedPlace): boolean;
  /** A run that named this place does not count. */
  disown(place: NamedPlace): void;
  /** What stands at a position, read by whoever holds the database. */
  entryAt(tx: Inside, position: number): Promise<Uint8Array | undefined>;
};

export type PublicLogCheck = {
  store: Store;
  link: SignerLink;
  /** Hex. */
  logKey: string;
  deploymentId: string;
  rebuilds: boolean;
};

/** By their ids. Undefined: it cannot be read, and nothing is said about its runs. */
export type LogsById = ReadonlyMap<string, CheckedLog | undefined>;

export type CheckedLogs = { logs: LogsById; findings: OrganizationFindings[] };

export async function checkPublicLogs(check: PublicLogCheck): Promise<CheckedLogs> {
  const { store, link, rebuilds } = check;
  const state = await link.request("logState", {});
  const logs = new Map<string, CheckedLog | undefined>();
  const all: OrganizationFindings[] = [];
  const listed = new Set((await listedLogs(store))?.keys());
  for (const logId of new Set([...(await listLogIds(store)), ...listed])) {
    const findings = findingsOfLog(logId, rebuilds);
    all.push(findings);
    if (!listed.has(logId) && !(await isSigned(check, logId))) {
      await dropStrays(store, logId, findings);
      continue;
    }
    const own = state && toHex(state.logId) === logId ? state : undefined;
    try {
      logs.set(logId, await checkOne(check, logId, own, findings));
    } catch (thrown) {
      const error = unlessAway(thrown);
      if (error instanceof Fault && error.code === "unavailable") throw error;
      // What makes one log unreadable must not keep the others, and the organizations, from being looked at.
      findings.lost(`its rows cannot be read or rebuilt: ${error instanceof Error ? error.message : error}`);
      logs.set(logId, undefined);
    }
  }
  return { logs, findings: all };
}

async function isSigned({ store, deploymentId, logKey }: PublicLogCheck, logId: string): Promise<boolean> {
  const row = await findLog(store, logId);
  return row !== undefined && openSigned(row, deploymentId, logKey) !== undefined;
}

/** Rows of a log that there never was. Runs are looked at with their organization. */
async function dropStrays(store: Store, logId: string, findings: OrganizationFindings): Promise<void> {
  for (const table of ["logs", "log_entries", "log_tiles"] as const) {
    const [found] = await store.db.selectFrom(table).select("log_id").where("log_id", "=", logId).limit(1).execute();
    if (found === undefined) continue;
    if (findings.differs(`${table}: rows of a log that nobody has listed`))
      await store.db.deleteFrom(table).where("log_id", "=", logId).execute();
  }
}

type LogState = NonNullable<Reply<"logState">>;

async function checkOne(
  check: PublicLogCheck,
  logId: string,
  state: LogState | undefined,
  findings: OrganizationFindings,
): Promise<CheckedLog> {
  const { store } = check;
  const signed = await checkRow(check, logId, state, findings);
  const size = await storedSize(store, logId, signed?.size ?? 0);
  const { owners, spoken, claims, foreign, untold, holds } = await readClaims(store, logId, size);
  await checkLogRows({
    store,
    logId,
    size,
    signed,
    findings,
    ownerAt: (position) => owners[position] ?? spoken[position],
  });
  const unnamed = new Set<number>();
  for (let position = 0; position < size; position++) if (owners[position] === undefined) unnamed.add(position);
  return {
    logId,
    unnamed,
    holds,
    isUntold: ([first]) => first !== undefined && untold.has(nameOf(first)),
    isForeign: (place) => foreign.has(nameOf(place)),
    disown(place) {
      const { position } = place;
      if (foreign.has(nameOf(place))) return;
      claims[position] = (claims[position] ?? 1) - 1;
      if (claims[position] === 0 && position < size) unnamed.add(position);
    },
    entryAt: entryReader(logId),
  };
}

/** Names of leaves that their organization does not have. Whoever has changed rows can write as many as he likes. */
const maxAbsent = 1_000_000;

/** What the runs of all organizations say. `spoken`: where a run that goes beyond the log may nonetheless say whose a position is. */
async function readClaims(store: Store, logId: string, size: number) {
  const [owners, spoken, claims]: [string[], string[], number[]] = [[], [], []];
  const [foreign, untold] = [new Set<string>(), new Set<string>()];
  const absent: NamedPlace[] = [];
  const holds = (places: readonly NamedPlace[]) => places.every(({ position }) => position < size);
  const claim = ({ position, organizationId }: NamedPlace) => {
    owners[position] = organizationId;
    claims[position] = (claims[position] ?? 0) + 1;
  };
  for await (const places of runsOfLog(store, logId)) {
    const [first] = places;
    // Rows of nobody are named by themselves.
    if (first === undefined || !isUuid(first.organizationId)) continue;
    if (!holds(places)) {
      for (const { position, organizationId } of places) if (position < size) spoken[position] = organizationId;
      continue;
    }
    const there = await leavesThere(store, places);
    const gone = places.filter((place) => !there.has(leafName(place)));
    if (absent.length + gone.length > maxAbsent) {
      untold.add(nameOf(first));
      continue;
    }
    for (const place of places) if (there.has(leafName(place))) claim(place);
    for (const place of gone) absent.push(place);
  }
  const elsewhere = await leavesOfAnybody(store, new Set(absent.map(leafName)));
  for (const place of absent) {
    if (elsewhere.has(leafName(place))) foreign.add(nameOf(place));
    else claim(place);
  }
  return { owners, spoken, claims, foreign, untold, holds };
}

function nameOf({ organizationId, boot, number, position }: NamedPlace): string {
  return `${organizationId} ${boot} ${number} ${position}`;
}

/** As far as rows go, or as the signer has signed. */
async function storedSize(store: Store, logId: string, signedSize: number): Promise<number> {
  const tile = await findLastTile(store, logId, signedSize);
  if (tile === undefined) return signedSize;
  const rows = await entriesOfTile(store, logId, tile);
  const ends = rows.map(({ first_position, entries }) => first_position + Math.floor(entries.length / entryLength));
  return Math.max(signedSize, ...ends);
}

/** The log's own row. What the newest checkpoint says, if it is the signer's. */
async function checkRow(
  check: PublicLogCheck,
  logId: string,
  state: LogState | undefined,
  findings: OrganizationFindings,
): Promise<{ size: number; root: Uint8Array } | undefined> {
  const { store, deploymentId, logKey } = check;
  const origin = logOrigin(deploymentId, logId);
  const row = await findLog(store, logId);
  if (row === undefined) {
    // One that was listed a moment before the end, and that nobody has kept anything of yet.
    if ((await findLastTile(store, logId, 0)) === undefined) return undefined;
    if (findings.differs("logs: its row is missing")) await keepLog(store, logId, origin, Date.now());
  } else if (row.origin !== origin && findings.differs("logs: origin is not its own")) {
    await store.db.updateTable("logs").set({ origin }).where("log_id", "=", logId).execute();
  }
  const signed = row && openSigned(row, deploymentId, logKey);
  if (signed !== undefined) {
    if (row?.checkpoint_size !== signed.size && findings.differs("logs: checkpoint_size is not the checkpoint's"))
      await store.db.updateTable("logs").set({ checkpoint_size: signed.size }).where("log_id", "=", logId).execute();
    return signed;
  }
  return signAgain(check, logId, row, state, findings);
}

function openSigned({ log_id, checkpoint }: LogRow, deploymentId: string, logKey: string) {
  if (checkpoint === null) return undefined;
  try {
    return openCheckpoint(nodeCurves, logVkey(deploymentId, log_id, fromHex(logKey)), checkpoint);
  } catch {
    return undefined;
  }
}

/** The signer signs the same once more, of its own log. */
async function signAgain(
  { store, link, deploymentId, logKey }: PublicLogCheck,
  logId: string,
  row: LogRow | undefined,
  state: LogState | undefined,
  findings: OrganizationFindings,
): Promise<{ size: number; root: Uint8Array } | undefined> {
  const isUnsigned = row?.checkpoint === null && row.checkpoint_size === 0;
  if (isUnsigned && (state?.checkpointSize ?? 0) === 0) return undefined;
  if (state === undefined) {
    findings.lost("logs: it has no checkpoint of the signer's");
    return undefined;
  }
  const size = state.checkpointSize;
  if (!findings.differs("logs: it has no checkpoint of the signer's") || size === 0) return undefined;
  const { note } = await link.request("checkpoint", { size });
  await store.db.updateTable("logs").set({ checkpoint_size: 0 }).where("log_id", "=", logId).execute();
  await storeCheckpoint(store, { logId, size, note, tiles: [] });
  return openCheckpoint(nodeCurves, logVkey(deploymentId, logId, fromHex(logKey)), note);
}

/** Runs go through the tiles in turns: a few are kept. */
const keptTiles = 512;

function entryReader(logId: string): CheckedLog["entryAt"] {
  const tiles = new Map<number, Map<number, Uint8Array>>();
  return async (tx, position) => {
    const n = Math.floor(position / tileWidth);
    let tile = tiles.get(n);
    if (tile === undefined) {
      tile = new Map();
      for (const row of await entriesOfTile({ db: tx }, logId, n)) {
        if (row.entries.length % entryLength !== 0) continue;
        for (const [at, entry] of readEntries(row).entries()) tile.set(row.first_position + at, entry);
      }
      if (tiles.size >= keptTiles) tiles.clear();
      tiles.set(n, tile);
    }
    return tile.get(position);
  };
}

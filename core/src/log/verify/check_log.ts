/** One log of an export by itself: its checkpoint, the tree of its entries, and what somebody has seen of it before. */
import { sameBytes } from "../../encoding/bytes.ts";
import { fromHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import { openCheckpointNote } from "../../tlog/checkpoint.ts";
import { findCosignature } from "../../tlog/cosignature.ts";
import { type Hash, hashLength } from "../../tlog/hash.ts";
import { type Note, type NoteCurves, parseNote } from "../../tlog/note.ts";
import { Frontier } from "../../tlog/tree.ts";
import type { Vkey } from "../../tlog/vkey.ts";
import type { ListedLog } from "../export/log_list.ts";
import { logVkey, parseLogOrigin } from "../log_name.ts";
import type { Finding, Place } from "./finding.ts";

export type CheckedLog = {
  logId: string;
  /** The checkpoint's. */
  size: number;
  /** May be fewer where the export is damaged. */
  entries: Uint8Array;
  /** How many more the log had, by the word of the one that followed. */
  lost: number;
  /** When witnesses that were asked for have cosigned the checkpoint. */
  cosigned: readonly Cosigned[];
  findings: readonly Finding[];
};

export type Cosigned = { name: string; seconds: number };

/** A head of a log that somebody knows from elsewhere. `isNamed`: by the log that followed; what it held may be lost since. */
export type KnownHead = { size: number; root: Uint8Array; of: string; isNamed: boolean };

/** A checkpoint that somebody has kept. */
export type Seen = { origin: string; logId: string; size: number; root: Uint8Array };

export type LogInput = { listed: ListedLog; checkpoint: Uint8Array | undefined; entries: Uint8Array | undefined };

export type LogChecks = {
  curves: NoteCurves & { sha256: Hash };
  key: Vkey;
  witnesses: readonly Vkey[];
  /** Heads of this log that others know: of an earlier checkpoint, or of the log that followed it. */
  heads: readonly KnownHead[];
};

export function checkLog({ listed, checkpoint, entries = empty }: LogInput, checks: LogChecks): CheckedLog {
  const { logId } = listed;
  const findings: Finding[] = [];
  const bad = (what: string, file?: string): void => {
    findings.push({ kind: "bad", place: { logId, ...(file !== undefined && { file: `${logId}/${file}` }) }, what });
  };
  const isEnded = checks.heads.some(({ isNamed }) => isNamed);
  const opened = checkpoint === undefined || isLost(checkpoint, isEnded) ? undefined : open(checkpoint, checks, bad);
  const count = Math.floor(entries.length / hashLength);
  const size = opened?.checkpoint.size ?? (checkpoint !== undefined && isLost(checkpoint, isEnded) ? 0 : count);
  if (entries.length !== size * hashLength) bad(`not ${size} entries of ${hashLength} bytes`, "entries");
  const wanted = new Map(checks.heads.map((head) => [head.size, head]));
  const roots = rootsAt(entries, [size, ...wanted.keys()], checks.curves.sha256);
  const root = roots.get(size);
  if (opened !== undefined && root !== undefined && !sameBytes(root, opened.checkpoint.root)) {
    bad("the entries do not have the root that the checkpoint signs");
  }
  for (const head of checks.heads) {
    const then = roots.get(head.size);
    if (then === undefined) {
      const what = `${head.of} has ${head.size} entries, this export ${count}: the others are lost or withheld`;
      findings.push({ kind: head.isNamed ? "unchecked" : "bad", place: { logId }, what });
    } else if (!sameBytes(then, head.root)) bad(`the log does not continue ${head.of}: its history was changed`);
  }
  const place = { logId, file: `${logId}/checkpoint` };
  const witnessed = opened === undefined ? undefined : checkWitnesses(place, opened.note, checks);
  findings.push(...(witnessed?.findings ?? []));
  const lost = Math.max(0, ...checks.heads.filter(({ isNamed }) => isNamed).map((head) => head.size - count));
  return { logId, size, entries, lost, cosigned: witnessed?.cosigned ?? [], findings };
}

const empty = new Uint8Array();

/** Of a log that has ended, a restored database may have no checkpoint, and then no entry that anybody could check. */
function isLost(checkpoint: Uint8Array, isEnded: boolean): boolean {
  return isEnded && checkpoint.length === 0;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a file, for the readers of notes to judge. */
export function noteText(file: Uint8Array): string {
  try {
    return utf8.decode(file);
  } catch (cause) {
    throw new Fault("invalid_argument", "malformed signed note: not UTF-8", { cause });
  }
}

function open(file: Uint8Array, { curves, key }: LogChecks, bad: (what: string, file: string) => void) {
  try {
    const opened = openCheckpointNote(curves, key, noteText(file));
    if (opened.checkpoint.extensions !== undefined) throw new Fault("invalid_argument", "it has further lines");
    return opened;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    bad(error.message, "checkpoint");
    return undefined;
  }
}

/** The roots of the tree at these sizes; none where there are not so many entries. */
function rootsAt(entries: Uint8Array, sizes: readonly number[], hash: Hash): Map<number, Uint8Array> {
  const wanted = new Set(sizes);
  const roots = new Map<number, Uint8Array>();
  const frontier = new Frontier(hash);
  for (let at = 0; ; at += hashLength) {
    if (wanted.has(frontier.size)) roots.set(frontier.size, frontier.root());
    if (at + hashLength > entries.length) return roots;
    frontier.append(entries.subarray(at, at + hashLength));
  }
}

/** Each witness that was asked for must have cosigned. Lines of others may say anything: without their keys they are unchecked. */
export function checkWitnesses(
  place: Place,
  note: Note,
  { curves, key, witnesses }: Pick<LogChecks, "curves" | "key" | "witnesses">,
): { cosigned: Cosigned[]; findings: Finding[] } {
  const cosigned: Cosigned[] = [];
  const findings: Finding[] = witnesses.flatMap((witness): Finding[] => {
    try {
      const seconds = findCosignature(curves, witness, note);
      if (seconds !== undefined) {
        cosigned.push({ name: witness.name, seconds });
        return [];
      }
      return [{ kind: "bad", place, what: `the witness \`${witness.name}\` has not cosigned the checkpoint` }];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return [{ kind: "bad", place, what: error.message }];
    }
  });
  const known = [key, ...witnesses];
  const others = note.signatures.filter(
    ({ name, keyId }) => !known.some((each) => each.name === name && each.keyId === keyId),
  );
  for (const name of new Set(others.map((line) => line.name))) {
    findings.push({ kind: "unchecked", place, what: `the signature of \`${name}\`: pass its key with --witness` });
  }
  return { cosigned, findings };
}

/** Reads a checkpoint that somebody has kept, under the key of its own log. */
export function openSeen(curves: NoteCurves, publicKey: Uint8Array, text: string): Seen {
  const [origin = ""] = parseNote(text).text.split("\n");
  const { deploymentId, logId } = parseLogOrigin(origin);
  const { size, root } = openCheckpointNote(curves, logVkey(deploymentId, logId, publicKey), text).checkpoint;
  return { origin, logId, size, root };
}

/** The heads that later logs name of a log. */
export function headsNamed(logs: readonly ListedLog[], logId: string): KnownHead[] {
  return logs.flatMap(({ logId: next, previous }) => {
    if (previous?.logId !== logId) return [];
    return [
      { size: previous.size, root: fromHex(previous.root), of: `the head that log ${next} follows`, isNamed: true },
    ];
  });
}

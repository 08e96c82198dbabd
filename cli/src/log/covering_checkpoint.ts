/** The checkpoint that an export or a proof is shown with. */
import { Fault } from "@keystead/core/fault.ts";
import { formatNote } from "@keystead/core/tlog/note.ts";
import { parseVkey } from "@keystead/core/tlog/vkey.ts";
import { UsageError } from "../command.ts";
import type { PublicLog, PublishedLog, ReadCheckpoint } from "./public_log.ts";

export type CheckpointSource = {
  publicLog: PublicLog;
  /** The names of witnesses whose cosignatures are waited for. */
  witnesses: readonly string[];
  wait(ms: number): Promise<unknown>;
};

/** Checkpoints come every second; witnesses answer within a few. */
const tries = 60;

/** Waits for one of at least this size that the witnesses have cosigned. Undefined of a log that has ended, where the server has lost it. */
export async function coveringCheckpoint(
  { publicLog, witnesses, wait }: CheckpointSource,
  log: PublishedLog,
  size: number,
): Promise<ReadCheckpoint | undefined> {
  for (let attempt = 0; attempt < tries; attempt++) {
    if (attempt > 0) await wait(500);
    const checkpoint = await publicLog.checkpoint(log);
    if (checkpoint === undefined && !log.open) return undefined;
    if (checkpoint === undefined) continue;
    const isCosigned = witnesses.every((name) => checkpoint.note.signatures.some((line) => line.name === name));
    // Nobody cosigns a log any more that has ended.
    if (!log.open || (checkpoint.size >= size && isCosigned)) return signedBy(checkpoint, witnesses);
  }
  const what = witnesses.length > 0 ? "that its witnesses have cosigned" : "of what it has released";
  throw new Error(`the server has no checkpoint of log ${log.logId} ${what}; try again later`);
}

/** Lines of others are left out: who has not asked for a witness has no key to check its line with. */
function signedBy(checkpoint: ReadCheckpoint, witnesses: readonly string[]): ReadCheckpoint {
  const { origin, note } = checkpoint;
  const signatures = note.signatures.filter(({ name }) => name === origin || witnesses.includes(name));
  const kept = { ...note, signatures };
  return { ...checkpoint, note: kept, text: formatNote(kept) };
}

export function nameOfWitness(text: string): string {
  try {
    return parseVkey(text).name;
  } catch (error) {
    if (error instanceof Fault) throw new UsageError(`--witness \`${text}\`: ${error.message}`);
    throw error;
  }
}

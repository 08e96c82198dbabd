/**
 * What a witness answers (C2SP tlog-witness). Nothing here waits: comparing with the checkpoint before, keeping the new one on disk and cosigning
 * it are one step, however many requests come at once.
 */
import { Fault } from "@keystead/core/fault.ts";
import { type Checkpoint, parseCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { cosign } from "@keystead/core/tlog/cosignature.ts";
import {
  formatSignatureLine,
  type NoteCurves,
  type NoteKey,
  openNote,
  parseNote,
  type Sign,
} from "@keystead/core/tlog/note.ts";
import { verifyConsistency } from "@keystead/core/tlog/tree.ts";
import type { Vkey } from "@keystead/core/tlog/vkey.ts";
import { parseAddCheckpoint, sizeContentType } from "@keystead/core/tlog/witness.ts";
import type { WitnessFolder } from "./witness_folder.ts";

export type Answer = { status: number; contentType: string; body: string };

export type Witness = {
  curves: NoteCurves;
  /** The keys that are believed, by origin. */
  logs: ReadonlyMap<string, readonly Vkey[]>;
  folder: Pick<WitnessFolder, "find" | "keep">;
  key: Pick<NoteKey, "name" | "publicKey"> & { sign: Sign };
  nowSeconds(): number;
};

const textType = "text/plain; charset=utf-8";

/** Answers the body of one `add-checkpoint` request. */
export function addCheckpoint({ curves, logs, folder, key, nowSeconds }: Witness, body: string): Answer {
  const request = read(() => parseAddCheckpoint(body));
  if ("status" in request) return request;
  const note = read(() => parseNote(request.checkpoint));
  if ("status" in note) return note;
  const checkpoint = read(() => parseCheckpoint(note.text));
  if ("status" in checkpoint) return checkpoint;

  const keys = logs.get(checkpoint.origin);
  if (keys === undefined) return plain(404, "this witness does not follow that log");
  if (!isSigned(curves, keys, request.checkpoint)) return plain(403, "no signature by a key of that log");

  const { oldSize, proof } = request;
  if (oldSize > checkpoint.size) return plain(400, "the old size is above the checkpoint's");
  const before = folder.find(checkpoint.origin);
  if (oldSize !== (before?.size ?? 0)) return conflict(before);
  if (before !== undefined && before.size === checkpoint.size && !sameRoot(before, checkpoint)) return conflict(before);
  if (!follows(before, checkpoint, proof)) return plain(422, "the consistency proof does not verify");

  // Disk first: a cosignature that is out must never be forgotten, or a second history could be cosigned after a crash.
  if (before?.size !== checkpoint.size) folder.keep(checkpoint, request.checkpoint);
  const line = cosign(note.text, key, nowSeconds(), key.sign);
  return { status: 200, contentType: textType, body: formatSignatureLine(line) };
}

/** What was read, or the refusal of what cannot be. */
function read<T extends object>(reader: () => T): T | Answer {
  try {
    return reader();
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return plain(400, error.message);
    throw error;
  }
}

function isSigned(curves: NoteCurves, keys: readonly Vkey[], note: string): boolean {
  try {
    openNote(curves, keys, note);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** From no entries on there is nothing to prove. */
function follows(before: Checkpoint | undefined, checkpoint: Checkpoint, proof: readonly Uint8Array[]): boolean {
  if (before === undefined || before.size === 0) return proof.length === 0;
  return verifyConsistency(before.size, checkpoint.size, proof, before.root, checkpoint.root);
}

function sameRoot(a: Checkpoint, b: Checkpoint): boolean {
  return Buffer.from(a.root).equals(b.root);
}

function conflict(before: Checkpoint | undefined): Answer {
  return { status: 409, contentType: sizeContentType, body: `${before?.size ?? 0}\n` };
}

function plain(status: number, text: string): Answer {
  return { status, contentType: textType, body: `${text}\n` };
}

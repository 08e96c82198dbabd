/** Checkpoints (C2SP tlog-checkpoint): a note that says how large a log is and what its root is. Layout: SPEC.md. */

import { toBase64 } from "../encoding/base64.ts";
import { sameBytes } from "../encoding/bytes.ts";
import { Fault } from "../fault.ts";
import { isPlainText, malformed, parseHash, parseNumber } from "./lines.ts";
import { type Note, type NoteCurves, openNote } from "./note.ts";
import { emptyRoot } from "./tree.ts";
import type { Vkey } from "./vkey.ts";

/** `extensions` are further lines, which other logs write and we do not. */
export type Checkpoint = { origin: string; size: number; root: Uint8Array; extensions?: readonly string[] };

const what = "checkpoint";

/** Writes the text of a checkpoint, without signatures. */
export function formatCheckpoint({ origin, size, root, extensions = [] }: Checkpoint): string {
  const text = [origin, size, toBase64(root), ...extensions].map((line) => `${line}\n`).join("");
  parseCheckpoint(text);
  return text;
}

/** Reads the text of a checkpoint, without signatures. */
export function parseCheckpoint(text: string): Checkpoint {
  if (!isPlainText(text)) throw malformed(what, "a control character or no UTF-8");
  const lines = text.split("\n");
  if (lines.pop() !== "" || lines.length < 3) throw malformed(what, "fewer than three lines");
  if (lines.includes("")) throw malformed(what, "an empty line");
  const [origin = "", sizeText = "", rootText = "", ...extensions] = lines;
  const size = parseNumber(what, sizeText);
  const root = parseHash(what, rootText);
  if (size === 0 && !sameBytes(root, emptyRoot)) throw malformed(what, "a root of no entries");
  return { origin, size, root, ...(extensions.length === 0 ? {} : { extensions }) };
}

/** Reads a signed checkpoint and checks that it is of this log, by the log's own key. */
export function openCheckpoint(curves: NoteCurves, log: Vkey, noteText: string): Checkpoint {
  return openCheckpointNote(curves, log, noteText).checkpoint;
}

/** The same, with the note, for whoever looks at the cosignatures too. */
export function openCheckpointNote(
  curves: NoteCurves,
  log: Vkey,
  noteText: string,
): { checkpoint: Checkpoint; note: Note } {
  const { text, signatures } = openNote(curves, [log], noteText);
  const checkpoint = parseCheckpoint(text);
  if (checkpoint.origin !== log.name) {
    throw new Fault("invalid_argument", `the checkpoint is not of the log \`${log.name}\``);
  }
  return { checkpoint, note: { text, signatures } };
}

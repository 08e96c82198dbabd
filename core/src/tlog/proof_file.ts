/** Proof files (C2SP tlog-proof): that one entry is in a log, as a text to keep beside what it is about. Layout: SPEC.md. */
import { toBase64 } from "../encoding/base64.ts";
import { Fault } from "../fault.ts";
import { type Checkpoint, openCheckpointNote } from "./checkpoint.ts";
import { malformed, parseBase64, parseHash, parseNumber } from "./lines.ts";
import type { Note, NoteCurves } from "./note.ts";
import { leafHash, verifyInclusion } from "./tree.ts";
import type { Vkey } from "./vkey.ts";
import { maxProofHashes } from "./witness.ts";

/** `extra` is whatever its writer adds; nothing vouches for it. `checkpoint` is the signed note. */
export type ProofFile = { extra?: Uint8Array; index: number; proof: readonly Uint8Array[]; checkpoint: string };

const what = "proof file";
const firstLine = "c2sp.org/tlog-proof@v1";

/** Writes a proof file. */
export function formatProofFile({ extra, index, proof, checkpoint }: ProofFile): string {
  const extraLine = extra === undefined ? "" : `extra ${toBase64(extra)}\n`;
  return `${firstLine}\n${extraLine}index ${index}\n${proof.map((hash) => `${toBase64(hash)}\n`).join("")}\n${checkpoint}`;
}

/** Reads a proof file; it says nothing about whether the proof holds. */
export function parseProofFile(text: string): ProofFile {
  const end = text.indexOf("\n\n");
  if (end < 0) throw malformed(what, "no empty line before the checkpoint");
  const [first, ...lines] = text.slice(0, end).split("\n");
  if (first !== firstLine) throw malformed(what, "an unknown first line");
  const extra = lines[0]?.startsWith("extra ") ? lines.shift() : undefined;
  const [indexLine = "", ...hashes] = lines;
  if (!indexLine.startsWith("index ")) throw malformed(what, "no index");
  if (hashes.length > maxProofHashes) throw malformed(what, `more than ${maxProofHashes} hashes`);
  return {
    ...(extra === undefined ? {} : { extra: parseBase64(what, extra.slice("extra ".length)) }),
    index: parseNumber(what, indexLine.slice("index ".length)),
    proof: hashes.map((hash) => parseHash(what, hash)),
    checkpoint: text.slice(end + 2),
  };
}

/** Checks that the entry is at the file's index in this log. Returns the checkpoint that shows it, and its note for cosignatures. */
export function openProofFile(
  curves: NoteCurves,
  log: Vkey,
  entry: Uint8Array,
  file: ProofFile,
): { checkpoint: Checkpoint; note: Note } {
  const opened = openCheckpointNote(curves, log, file.checkpoint);
  const { size, root } = opened.checkpoint;
  if (!verifyInclusion(file.index, size, leafHash(entry), file.proof, root)) {
    throw new Fault("invalid_argument", "the proof does not show the entry in the log");
  }
  return opened;
}

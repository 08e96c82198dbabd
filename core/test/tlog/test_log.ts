/** A log in memory, with its key: checkpoints of any size it has had, proofs, and forks of it. */
import { formatCheckpoint } from "../../src/tlog/checkpoint.ts";
import { formatNote, signNote } from "../../src/tlog/note.ts";
import { consistencyProof, type HashReader, hashReaderOf, leafHash, rootOf } from "../../src/tlog/tree.ts";
import { encodeVkey } from "../../src/tlog/vkey.ts";
import { formatAddCheckpoint } from "../../src/tlog/witness.ts";
import { keyOf } from "./note_keys.ts";

export type TestLog = {
  origin: string;
  vkey: string;
  /** The signed checkpoint of a size. */
  checkpoint(size: number): string;
  consistency(oldSize: number, newSize: number): Uint8Array[];
  /** The body of a request to a witness. */
  request(oldSize: number, newSize: number): string;
};

/** Logs of one origin and different seeds begin with the same `shared` entries and differ from there on. */
export function testLog(origin: string, { seed = 0, shared = 0, entries = 200 } = {}): TestLog {
  const key = keyOf(origin);
  const list = Array.from({ length: entries }, (_, i) => new Uint8Array(32).fill(i < shared ? 0 : seed).fill(i, 0, 4));
  const read: HashReader = hashReaderOf(list.map((entry) => leafHash(entry)));
  const consistency = (oldSize: number, newSize: number) =>
    oldSize === 0 ? [] : consistencyProof(oldSize, newSize, read);
  const checkpoint = (size: number) => {
    const text = formatCheckpoint({ origin, size, root: rootOf(list.slice(0, size)) });
    return formatNote({ text, signatures: [signNote(text, key, key.sign)] });
  };
  return {
    origin,
    vkey: encodeVkey(origin, key.publicKey),
    checkpoint,
    consistency,
    request: (oldSize, newSize) =>
      formatAddCheckpoint({ oldSize, proof: consistency(oldSize, newSize), checkpoint: checkpoint(newSize) }),
  };
}

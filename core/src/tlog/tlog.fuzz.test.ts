/**
 * Mutants of all texts of the log: a reader takes one or refuses it with our own code, what it takes it writes back to the same bytes, and no
 * mutant of a signed text opens unless nothing that counts was changed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { samples } from "../../test/samples.ts";
import { type Random, seededRandom } from "../../test/seeded_random.ts";
import { testCurves } from "../../test/test_curves.ts";
import { keyOf } from "../../test/tlog/note_keys.ts";
import { Fault } from "../fault.ts";
import { formatCheckpoint, openCheckpointNote, parseCheckpoint } from "./checkpoint.ts";
import { cosign, findCosignature } from "./cosignature.ts";
import { formatNote, parseNote, signNote } from "./note.ts";
import { formatProofFile, openProofFile, parseProofFile } from "./proof_file.ts";
import { parseTilePath, tilePath } from "./tiles.ts";
import { hashReaderOf, inclusionProof, leafHash, rootOf } from "./tree.ts";
import { encodeVkey, parseVkey } from "./vkey.ts";
import { formatAddCheckpoint, parseAddCheckpoint } from "./witness.ts";

const seed = 24;
const log = keyOf("log.example/one");
const witness = keyOf("w.example/1", 4);
const entries = Array.from({ length: 23 }, (_, i) => new Uint8Array(32).fill(i + 1));
const text = formatCheckpoint({ origin: log.name, size: 23, root: rootOf(entries) });
const signatures = [signNote(text, log, log.sign), cosign(text, witness, 1_700_000_000, witness.sign)];
const note = formatNote({ text, signatures });
const proof = inclusionProof(11, 23, hashReaderOf(entries.map((entry) => leafHash(entry))));
const entry = entries[11] as Uint8Array;

const spare = [..."\n \r\t+/=-_.x0123456789AZaz—\u0000\u007f\u00a0\ud800é"];

/** A small change of a text: a character, a line, or two places. */
function mutate(value: string, random: Random): string {
  const at = random.below(value.length + 1);
  const to = Math.min(value.length, at + 1 + random.below(4));
  const lines = value.split("\n");
  const line = random.below(lines.length);
  const ways: (() => string)[] = [
    () => value.slice(0, at) + random.pick(spare) + value.slice(at),
    () => value.slice(0, at) + random.pick(spare) + value.slice(at + 1),
    () => value.slice(0, at) + value.slice(to),
    () => value.slice(0, at),
    () => value.slice(at),
    () => lines.toSpliced(line, 1).join("\n"),
    () => lines.toSpliced(line, 0, lines[random.below(lines.length)] ?? "").join("\n"),
    () => lines.with(line, lines[random.below(lines.length)] ?? "").join("\n"),
    () => value + value.slice(at),
  ];
  return random.pick(ways)();
}

/** What is read, or undefined if it is refused with our own code. */
function read<T>(reader: () => T): T | undefined {
  try {
    return reader();
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return undefined;
    throw error;
  }
}

/** By the kind of text: a good one, and what reading and writing it again gives. */
const kinds: Record<string, { good: string; again(value: string): string }> = {
  note: { good: note, again: (value) => formatNote(parseNote(value)) },
  checkpoint: { good: text, again: (value) => formatCheckpoint(parseCheckpoint(value)) },
  vkey: {
    good: encodeVkey(witness.name, witness.publicKey, 4),
    again(value) {
      const { name, publicKey, type } = parseVkey(value);
      return encodeVkey(name, publicKey, type);
    },
  },
  "add-checkpoint": {
    good: formatAddCheckpoint({ oldSize: 9, proof, checkpoint: note }),
    again: (value) => formatAddCheckpoint(parseAddCheckpoint(value)),
  },
  "proof file": {
    good: formatProofFile({ extra: Uint8Array.of(1, 2), index: 11, proof, checkpoint: note }),
    again: (value) => formatProofFile(parseProofFile(value)),
  },
  "tile path": {
    good: "tile/entries/x001/x234/067.p/112",
    again(value) {
      const { level, n, width } = parseTilePath(value);
      return tilePath(level, n, width);
    },
  },
};

for (const [kind, { good, again }] of Object.entries(kinds)) {
  test(`mutants of a ${kind}: refused with our own code, or written back to the same bytes`, (t) => {
    const random = seededRandom(seed);
    assert.equal(again(good), good);
    let taken = 0;
    for (let i = 0; i < samples.tlogMutants; i++) {
      let mutant = mutate(good, random);
      if (random.below(3) === 0) mutant = mutate(mutant, random);
      const written = read(() => again(mutant));
      if (written === undefined) continue;
      taken++;
      assert.equal(written, mutant, JSON.stringify(mutant));
    }
    t.diagnostic(`${samples.tlogMutants} mutants, ${taken} of them are another text of this form`);
  });
}

test("no mutant of a signed checkpoint opens with another text or another time", (t) => {
  const random = seededRandom(seed + 1);
  let opened = 0;
  for (let i = 0; i < samples.tlogMutants; i++) {
    const mutant = mutate(note, random);
    const found = read(() => openCheckpointNote(testCurves, log, mutant));
    if (found === undefined) continue;
    opened++;
    assert.equal(found.note.text, text);
    const time = read(() => findCosignature(testCurves, witness, found.note));
    assert.ok(time === undefined || time === 1_700_000_000);
  }
  t.diagnostic(`${opened} of ${samples.tlogMutants} still open: only signatures were dropped, doubled or added`);
  assert.ok(opened < samples.tlogMutants / 2);
});

test("no mutant of a proof file shows the entry at another place", (t) => {
  const random = seededRandom(seed + 2);
  const good = formatProofFile({ index: 11, proof, checkpoint: note });
  let opened = 0;
  for (let i = 0; i < samples.tlogMutants; i++) {
    const mutant = mutate(good, random);
    const file = read(() => parseProofFile(mutant));
    if (file === undefined || read(() => openProofFile(testCurves, log, entry, file)) === undefined) continue;
    opened++;
    assert.equal(file.index, 11);
    assert.deepEqual(file.proof, proof);
  }
  t.diagnostic(`${opened} of ${samples.tlogMutants} still open`);
  assert.ok(opened < samples.tlogMutants / 2);
});

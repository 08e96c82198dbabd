import assert from "node:assert/strict";
import { test } from "node:test";
import { testCurves } from "../../test/test_curves.ts";
import { keyOf } from "../../test/tlog/note_keys.ts";
import { formatCheckpoint } from "./checkpoint.ts";
import { formatNote, signNote } from "./note.ts";
import { formatProofFile, openProofFile, parseProofFile } from "./proof_file.ts";
import { hashReaderOf, inclusionProof, leafHash, rootOf } from "./tree.ts";
import { formatAddCheckpoint, parseAddCheckpoint, parseSizeAnswer } from "./witness.ts";

const log = keyOf("log.example/one");
const entries = Array.from({ length: 13 }, (_, i) => new Uint8Array(32).fill(i));
const text = formatCheckpoint({ origin: log.name, size: 13, root: rootOf(entries) });
const checkpoint = formatNote({ text, signatures: [signNote(text, log, log.sign)] });
const proof = inclusionProof(9, 13, hashReaderOf(entries.map((entry) => leafHash(entry))));
const file = { index: 9, proof, checkpoint };
const entry = entries[9] as Uint8Array;

test("a proof file shows its entry in the log, with or without what its writer adds", () => {
  const written = formatProofFile(file);
  assert.match(written, /^c2sp\.org\/tlog-proof@v1\nindex 9\n(?:[A-Za-z0-9+/]{43}=\n){4}\nlog\.example\/one\n13\n/);
  assert.deepEqual(parseProofFile(written), file);
  const extended = { ...file, extra: Uint8Array.of(1, 2, 3) };
  assert.match(formatProofFile(extended), /^c2sp\.org\/tlog-proof@v1\nextra AQID\nindex 9\n/);
  assert.deepEqual(parseProofFile(formatProofFile(extended)), extended);
  assert.equal(openProofFile(testCurves, log, entry, parseProofFile(written)).checkpoint.size, 13);
});

test("the only entry of a log needs no hashes", () => {
  const [only] = entries as [Uint8Array];
  const oneText = formatCheckpoint({ origin: log.name, size: 1, root: rootOf([only]) });
  const one = formatNote({ text: oneText, signatures: [signNote(oneText, log, log.sign)] });
  const read = parseProofFile(formatProofFile({ index: 0, proof: [], checkpoint: one }));
  assert.equal(openProofFile(testCurves, log, only, read).checkpoint.size, 1);
});

test("another entry, index, proof or log is refused", () => {
  const refusal = { code: "invalid_argument", message: "the proof does not show the entry in the log" };
  assert.throws(() => openProofFile(testCurves, log, entries[8] as Uint8Array, file), refusal);
  assert.throws(() => openProofFile(testCurves, log, entry, { ...file, index: 8 }), refusal);
  assert.throws(() => openProofFile(testCurves, log, entry, { ...file, index: 13 }), refusal);
  assert.throws(() => openProofFile(testCurves, log, entry, { ...file, proof: proof.slice(1) }), refusal);
  assert.throws(() => openProofFile(testCurves, keyOf("log.example/two"), entry, file), {
    code: "invalid_argument",
    message: "no signature by a known key",
  });
});

test("proof files that are not of the one form are refused", () => {
  const hash = `${"A".repeat(43)}=\n`;
  const head = "c2sp.org/tlog-proof@v1\n";
  const cases: [text: string, why: string][] = [
    ["", "no empty line before the checkpoint"],
    [`${head}index 9\n${hash}`, "no empty line before the checkpoint"],
    [`c2sp.org/tlog-proof@v2\nindex 9\n\n${checkpoint}`, "an unknown first line"],
    [`${head}\n${checkpoint}`, "no index"],
    [`${head}index 9\nextra AQID\n\n${checkpoint}`, "base64 is not canonical"],
    [`${head}extra AQID\nextra AQID\nindex 9\n\n${checkpoint}`, "no index"],
    [`${head}extra AQI\nindex 9\n\n${checkpoint}`, "base64 is not canonical"],
    [`${head}Index 9\n\n${checkpoint}`, "no index"],
    [`${head}index 09\n\n${checkpoint}`, "a number is not decimal"],
    [`${head}index 9 \n\n${checkpoint}`, "a number is not decimal"],
    [`${head}index 9\nAQID\n\n${checkpoint}`, "a hash of 3 bytes"],
    [`${head}index 9\n${hash.repeat(64)}\n${checkpoint}`, "more than 63 hashes"],
  ];
  for (const [changed, why] of cases) {
    assert.throws(
      () => parseProofFile(changed),
      { code: "invalid_argument", message: `malformed proof file: ${why}` },
      JSON.stringify(changed),
    );
  }
});

test("a request to a witness has the old size, the proof and the checkpoint", () => {
  const request = { oldSize: 9, proof, checkpoint };
  const body = formatAddCheckpoint(request);
  assert.match(body, /^old 9\n(?:[A-Za-z0-9+/]{43}=\n){4}\nlog\.example\/one\n13\n/);
  assert.deepEqual(parseAddCheckpoint(body), request);
  const first = { oldSize: 0, proof: [], checkpoint };
  assert.equal(formatAddCheckpoint(first), `old 0\n\n${checkpoint}`);
  assert.deepEqual(parseAddCheckpoint(formatAddCheckpoint(first)), first);
});

test("requests to a witness that are not of the one form are refused", () => {
  const hash = `${"A".repeat(43)}=\n`;
  assert.equal(parseAddCheckpoint(`old 1\n${hash.repeat(63)}\n${checkpoint}`).proof.length, 63);
  const cases: [text: string, why: string][] = [
    ["", "no empty line before the checkpoint"],
    ["old 0\n", "no empty line before the checkpoint"],
    [checkpoint, "no old size"],
    [`\n\n${checkpoint}`, "no old size"],
    [`new 0\n\n${checkpoint}`, "no old size"],
    [`old\n\n${checkpoint}`, "no old size"],
    [`old 00\n\n${checkpoint}`, "a number is not decimal"],
    [`old  0\n\n${checkpoint}`, "a number is not decimal"],
    [`old 0\r\n\n${checkpoint}`, "a number is not decimal"],
    [`old 1\n${hash.repeat(64)}\n${checkpoint}`, "more than 63 hashes"],
    [`old 1\n${hash.slice(0, -1)}\r\n\n${checkpoint}`, "base64 is not canonical"],
  ];
  for (const [changed, why] of cases) {
    assert.throws(
      () => parseAddCheckpoint(changed),
      { code: "invalid_argument", message: `malformed add-checkpoint request: ${why}` },
      JSON.stringify(changed),
    );
  }
});

test("the size that a witness answers is one number in one line", () => {
  assert.equal(parseSizeAnswer("0\n"), 0);
  assert.equal(parseSizeAnswer("20852163\n"), 20_852_163);
  for (const body of ["", "\n", "1", "01\n", "1\n\n", " 1\n", "1\r\n", "9007199254740992\n"]) {
    assert.throws(() => parseSizeAnswer(body), { code: "invalid_argument" }, JSON.stringify(body));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { testCurves } from "../../test/test_curves.ts";
import { keyOf } from "../../test/tlog/note_keys.ts";
import { formatCheckpoint, openCheckpoint, openCheckpointNote, parseCheckpoint } from "./checkpoint.ts";
import { cosign, findCosignature, verifyCosignature } from "./cosignature.ts";
import { formatNote, type NoteSignature, parseNote, signNote } from "./note.ts";
import { emptyRoot } from "./tree.ts";
import { encodeVkey, parseVkey } from "./vkey.ts";

const log = keyOf("log.example/one");
const root = new Uint8Array(32).fill(7);
const checkpoint = { origin: log.name, size: 20_852_163, root };
const text = formatCheckpoint(checkpoint);
const signed = formatNote({ text, signatures: [signNote(text, log, log.sign)] });
const witness = keyOf("witness.example/w1", 4);

function refusal(message: string) {
  return { code: "invalid_argument", message };
}

test("a checkpoint is three lines: origin, size and root", () => {
  assert.equal(text, "log.example/one\n20852163\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n");
  assert.deepEqual(parseCheckpoint(text), checkpoint);
  assert.deepEqual(openCheckpoint(testCurves, log, signed), checkpoint);
  const empty = { origin: "o", size: 0, root: emptyRoot };
  assert.equal(formatCheckpoint(empty), "o\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n");
  assert.deepEqual(parseCheckpoint(formatCheckpoint(empty)), { ...empty, root: Uint8Array.from(emptyRoot) });
});

test("further lines of other logs are kept", () => {
  const extended = { ...checkpoint, extensions: ["one more", "and another"] };
  assert.deepEqual(parseCheckpoint(`${text}one more\nand another\n`), extended);
  assert.equal(formatCheckpoint(extended), `${text}one more\nand another\n`);
});

test("checkpoints that are not of the one form are refused", () => {
  const bad = (why: string) => refusal(`malformed checkpoint: ${why}`);
  const hash = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
  const cases: [text: string, why: string][] = [
    ["", "fewer than three lines"],
    ["o\n1\n", "fewer than three lines"],
    [`o\n1\n${hash}`, "fewer than three lines"],
    [`\n1\n${hash}\n`, "an empty line"],
    [`o\n1\n${hash}\n\n`, "an empty line"],
    [`o\n1\n${hash}\n\nmore\n`, "an empty line"],
    [`o\n01\n${hash}\n`, "a number is not decimal"],
    [`o\n+1\n${hash}\n`, "a number is not decimal"],
    [`o\n-1\n${hash}\n`, "a number is not decimal"],
    [`o\n1 \n${hash}\n`, "a number is not decimal"],
    [`o\n1e3\n${hash}\n`, "a number is not decimal"],
    [`o\n9007199254740992\n${hash}\n`, "a number is too large"],
    [`o\n18446744073709551616\n${hash}\n`, "a number is not decimal"],
    [`o\n1\n${hash.slice(0, -1)}\n`, "base64 is not canonical"],
    [`o\n1\n${hash.replace("c=", "d=")}\n`, "base64 is not canonical"],
    ["o\n1\nBwcH\n", "a hash of 3 bytes"],
    [`o\n0\n${hash}\n`, "a root of no entries"],
    [`o\u0000\n1\n${hash}\n`, "a control character or no UTF-8"],
    [`o\r\n1\r\n${hash}\r\n`, "a control character or no UTF-8"],
  ];
  for (const [changed, why] of cases) assert.throws(() => parseCheckpoint(changed), bad(why), JSON.stringify(changed));
  assert.throws(() => formatCheckpoint({ origin: "a\nb", size: 1, root }), { code: "invalid_argument" });
  assert.throws(() => formatCheckpoint({ origin: "", size: 1, root }), bad("an empty line"));
  assert.throws(() => formatCheckpoint({ origin: "o", size: 0.5, root }), bad("a number is not decimal"));
  assert.throws(() => formatCheckpoint({ origin: "o", size: 1, root: root.subarray(1) }), bad("a hash of 31 bytes"));
});

test("a checkpoint of another log, another key or another text is refused", () => {
  const other = keyOf("log.example/two");
  assert.throws(() => openCheckpoint(testCurves, other, signed), refusal("no signature by a known key"));
  // The right key signs a checkpoint of another origin.
  const foreign = formatCheckpoint({ ...checkpoint, origin: "log.example/two" });
  const note = formatNote({ text: foreign, signatures: [signNote(foreign, log, log.sign)] });
  assert.throws(
    () => openCheckpoint(testCurves, log, note),
    refusal("the checkpoint is not of the log `log.example/one`"),
  );
  const moved = signed.replace("20852163", "20852164");
  assert.throws(
    () => openCheckpoint(testCurves, log, moved),
    refusal(`the signature of \`${log.name}\` does not verify`),
  );
});

test("a cosignature says when its witness saw the checkpoint, in the witness's own key type", () => {
  const line = cosign(text, witness, 1_679_315_147, witness.sign);
  assert.equal(line.signature.length, 72);
  assert.equal(Buffer.from(line.signature.subarray(0, 8)).toString("hex"), "00000000641850cb");
  assert.ok(
    testCurves.verifyEd25519(
      witness.publicKey,
      Buffer.from(`cosignature/v1\ntime 1679315147\n${text}`),
      line.signature.subarray(8),
    ),
  );
  const vkey = encodeVkey(witness.name, witness.publicKey, 4);
  assert.equal(parseVkey(vkey).keyId, line.keyId);
  assert.notEqual(line.keyId, keyOf(witness.name).keyId);
  assert.equal(verifyCosignature(testCurves, parseVkey(vkey), text, line), 1_679_315_147);
  const { signatures } = parseNote(signed);
  const later = cosign(text, witness, 1_679_315_148, witness.sign);
  const note = formatNote({ text, signatures: [...signatures, line, later] });
  const opened = openCheckpointNote(testCurves, log, note);
  assert.equal(findCosignature(testCurves, witness, opened.note), 1_679_315_148);
  assert.equal(findCosignature(testCurves, keyOf("w2", 4), opened.note), undefined);
});

test("a cosignature of another witness, time, text or type is refused", () => {
  const line = cosign(text, witness, 1_679_315_147, witness.sign);
  const bad = refusal("the cosignature of `witness.example/w1` does not verify");
  const verify = (change: Partial<NoteSignature>, of = text) =>
    verifyCosignature(testCurves, witness, of, { ...line, ...change });
  assert.throws(() => verify({ name: "w2" }), bad);
  assert.throws(() => verify({ keyId: "00000000" }), bad);
  assert.throws(() => verify({ signature: line.signature.with(7, 0) }), bad);
  assert.throws(() => verify({ signature: line.signature.with(0, 255) }), bad);
  assert.throws(() => verify({ signature: line.signature.with(70, 1) }), bad);
  assert.throws(() => verify({ signature: line.signature.subarray(0, 71) }), bad);
  assert.throws(() => verify({ signature: witness.sign(Buffer.from(text)) }), bad);
  assert.throws(() => verify({}, text.replace("20852163", "20852164")), bad);
  assert.throws(
    () => verifyCosignature(testCurves, log, text, line),
    refusal("`log.example/one` is not the key of a witness"),
  );
  assert.throws(
    () => openCheckpoint(testCurves, witness, signed),
    refusal("`witness.example/w1` is not a key that signs notes"),
  );
});

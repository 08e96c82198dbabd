import assert from "node:assert/strict";
import { test } from "node:test";
import { testCurves } from "../../test/test_curves.ts";
import { keyOf } from "../../test/tlog/note_keys.ts";
import { formatNote, isKeyName, type NoteSignature, noteKeyId, openNote, parseNote, signNote } from "./note.ts";
import { encodeVkey, parseVkey } from "./vkey.ts";

/** The known answer that the format's own documents and tools share. */
const enoch = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const line =
  "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n";
const known = `${text}\n${line}`;

function refusal(message: string) {
  return { code: "invalid_argument", message };
}

test("the known note opens under its known key", () => {
  const key = parseVkey(enoch);
  assert.deepEqual([key.name, key.keyId, key.type], ["EnochRoot", "af0cfe78", 1]);
  assert.equal(noteKeyId(key.name, 1, key.publicKey), "af0cfe78");
  assert.equal(encodeVkey(key.name, key.publicKey), enoch);
  const note = openNote(testCurves, [key], known);
  assert.equal(note.text, text);
  assert.deepEqual(note.keys, [key]);
  assert.equal(formatNote(note), known);
});

test("a signed note is read back as it was written, and opens", () => {
  const key = keyOf("log.example/one");
  const signature = signNote("one\n\ntwo\n", key, key.sign);
  const note = formatNote({ text: "one\n\ntwo\n", signatures: [signature] });
  assert.deepEqual(parseNote(note), { text: "one\n\ntwo\n", signatures: [signature] });
  assert.equal(openNote(testCurves, [key], note).text, "one\n\ntwo\n");
});

test("unknown keys are ignored, a known key that fails refuses the note, and so does a note without a known key", () => {
  const [a, b, c] = [keyOf("a"), keyOf("b"), keyOf("c")];
  const signatures = [a, b].map((key) => signNote("text\n", key, key.sign));
  const note = formatNote({ text: "text\n", signatures });
  assert.deepEqual(openNote(testCurves, [a], note).keys, [a]);
  assert.deepEqual(openNote(testCurves, [b, a], note).keys, [b, a]);
  assert.deepEqual(openNote(testCurves, [a, c], note).keys, [a]);
  assert.throws(() => openNote(testCurves, [c], note), refusal("no signature by a known key"));
  assert.throws(() => openNote(testCurves, [], note), refusal("no signature by a known key"));
  const [good, other] = signatures as [NoteSignature, NoteSignature];
  const forged = formatNote({ text: "text\n", signatures: [good, { ...other, signature: good.signature }] });
  assert.deepEqual(openNote(testCurves, [a], forged).keys, [a]);
  assert.throws(() => openNote(testCurves, [a, b], forged), refusal("the signature of `b` does not verify"));
  const moved = formatNote({ text: "other\n", signatures });
  assert.throws(() => openNote(testCurves, [a], moved), refusal("the signature of `a` does not verify"));
});

test("a key with the same id and another name, or the same name and another id, is another key", () => {
  const [a, b] = [keyOf("a"), keyOf("b")];
  const signature = signNote("text\n", a, a.sign);
  for (const changed of [
    { ...signature, name: "b" },
    { ...signature, keyId: b.keyId },
  ]) {
    const note = formatNote({ text: "text\n", signatures: [changed] });
    assert.throws(() => openNote(testCurves, [a, b], note), refusal("no signature by a known key"));
  }
});

test("at least 16 signatures are accepted, and no more than 64", () => {
  const keys = Array.from({ length: 64 }, (_, i) => keyOf(`key-${i}`));
  const signatures = keys.map((key) => signNote("text\n", key, key.sign));
  assert.equal(openNote(testCurves, keys, formatNote({ text: "text\n", signatures })).keys.length, 64);
  const one = signatures.slice(0, 1);
  assert.throws(
    () => formatNote({ text: "text\n", signatures: [...signatures, ...one] }),
    refusal("malformed signed note: more than 64 signatures"),
  );
});

test("notes that are not of the one form are refused", () => {
  const bad = (why: string) => refusal(`malformed signed note: ${why}`);
  const cases: [note: string, why: string][] = [
    ["", "no empty line before the signatures"],
    [text, "no empty line before the signatures"],
    [`${text}${line}`, "no empty line before the signatures"],
    [`${text}\n`, "it does not end with a line break"],
    [`${text}\n\n`, "it does not end with a line break"],
    [known.slice(0, -1), "it does not end with a line break"],
    [`${known}\n`, "it does not end with a line break"],
    [`${known}— \n`, "a line that is no signature"],
    [known.replace("—", "-"), "a line that is no signature"],
    [known.replace("— ", "—  "), "a line that is no signature"],
    [known.replace("EnochRoot ", "Enoch+Root "), "a line that is no signature"],
    [known.replace("EnochRoot ", "Enoch\u00a0Root "), "a line that is no signature"],
    [known.replace("=\n", "= \n"), "a line that is no signature"],
    [known.replace("=\n", "\n"), "base64 is not canonical"],
    [known.replace("QQ=\n", "QR=\n"), "base64 is not canonical"],
    [known.replace("rwz+", "rwz-"), "base64 is not canonical"],
    [`${text}\n— a rwz+eA==\n`, "a signature that is too short"],
    [known.replaceAll("\n", "\r\n"), "a control character or no UTF-8"],
    [known.replace("If", "\u0000f"), "a control character or no UTF-8"],
    [known.replace("If", "\u007ff"), "a control character or no UTF-8"],
    [known.replace("If", "\ud800f"), "a control character or no UTF-8"],
  ];
  for (const [note, why] of cases) assert.throws(() => parseNote(note), bad(why), JSON.stringify(note));
});

test("a note that would be read as something else is not written", () => {
  const key = keyOf("a");
  const signature = signNote("text\n", key, key.sign);
  const write = (change: object, noteText = "text\n") =>
    formatNote({ text: noteText, signatures: [{ ...signature, ...change }] });
  assert.throws(() => write({ name: "a b" }), { code: "invalid_argument" });
  assert.throws(() => write({ name: "a\n— b" }), { code: "invalid_argument" });
  assert.throws(() => write({}, "text"), { code: "invalid_argument" });
  assert.throws(() => formatNote({ text: "text\n", signatures: [] }), { code: "invalid_argument" });
});

test("names of keys are not empty and have no spaces and no plus", () => {
  for (const name of ["a", "keystead/1/2", "über.example/日本"]) assert.ok(isKeyName(name), name);
  for (const name of ["", " ", "a b", "a+b", "a\n", "a\u2003b", "a\tb", "\ud800"]) assert.ok(!isKeyName(name), name);
});

test("verifier keys that are not of the one form are refused", () => {
  const bad = (why: string) => refusal(`malformed verifier key: ${why}`);
  const form = "not of the form name+id+key";
  const cases: [text: string, why: string][] = [
    ["", form],
    ["EnochRoot", form],
    ["EnochRoot+af0cfe78", form],
    [enoch.replace("af0cfe78", "AF0CFE78"), form],
    [enoch.replace("EnochRoot", ""), form],
    [enoch.replace("EnochRoot", "Enoch Root"), form],
    [`${enoch}\n`, form],
    [`${enoch} `, "base64 is not canonical"],
    [enoch.slice(0, -1), "base64 is not canonical"],
    [enoch.replace("EnochRoot", "EnochRoof"), "the id is not that of the name and the key"],
    [enoch.replace("af0cfe78", "af0cfe79"), "the id is not that of the name and the key"],
    [enoch.replace("+ATtq", "+BDtq"), "the id is not that of the name and the key"],
    [enoch.replace("+ATtq", "+AjtH"), "an unknown type of key"],
    ["a+00000000+AQ==", "not an Ed25519 key"],
    [`a+00000000+AQE${"A".repeat(41)}`, "not an Ed25519 key"],
  ];
  for (const [vkey, why] of cases) assert.throws(() => parseVkey(vkey), bad(why), vkey);
  assert.throws(() => encodeVkey("a b", parseVkey(enoch).publicKey), bad(form));
});

/**
 * Signed notes (C2SP signed-note): a text that people can read, and the signatures of any number of keys below it. Layout and rules: SPEC.md.
 */

import type { Curves } from "../crypto/curves.ts";
import { toBase64 } from "../encoding/base64.ts";
import { toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { sha256 } from "./hash.ts";
import { isPlainText, malformed, parseBase64 } from "./lines.ts";

/** One signature line. `keyId` is eight hex digits; `signature` is what follows the id, as its key's type lays it out. */
export type NoteSignature = { name: string; keyId: string; signature: Uint8Array };

/** `text` ends with a line break; there is at least one signature. */
export type Note = { text: string; signatures: readonly NoteSignature[] };

/** The two types of keys that we know. */
export const keyTypes = { ed25519: 1, cosignature: 4 } as const;
export type KeyType = (typeof keyTypes)[keyof typeof keyTypes];

/** A key that signs or checks notes, under its name. */
export type NoteKey = { name: string; keyId: string; type: KeyType; publicKey: Uint8Array };

/** All that checking a note takes. */
export type NoteCurves = Pick<Curves, "verifyEd25519">;

/** Signs bytes with the private half of a key. */
export type Sign = (message: Uint8Array) => Uint8Array;

/** The format asks readers to take at least 16; witnesses are few, and each line that is checked costs. */
export const maxNoteSignatures = 64;

const what = "signed note";
const utf8 = new TextEncoder();

/** Names a key in notes; anybody can make another key with the same id, so it finds keys and proves nothing. */
export function noteKeyId(name: string, type: KeyType, publicKey: Uint8Array): string {
  const head = utf8.encode(`${name}\n`);
  const bytes = new Uint8Array(head.length + 1 + publicKey.length);
  bytes.set(head);
  bytes[head.length] = type;
  bytes.set(publicKey, head.length + 1);
  return toHex(sha256(bytes).subarray(0, 4));
}

/** Whether a text can name a key: it stands between spaces in notes, and before a plus in verifier keys. */
export function isKeyName(name: string): boolean {
  return name !== "" && isPlainText(name) && !/[\s+]/u.test(name);
}

/** Reads a note; it says nothing about whether the signatures hold. */
export function parseNote(note: string): Note {
  if (!isPlainText(note)) throw malformed(what, "a control character or no UTF-8");
  const end = note.lastIndexOf("\n\n");
  if (end < 0) throw malformed(what, "no empty line before the signatures");
  return { text: note.slice(0, end + 1), signatures: parseSignatureLines(note.slice(end + 2)) };
}

/** Reads one or more signature lines, as they stand below a note and in a witness's answer. */
export function parseSignatureLines(lines: string): NoteSignature[] {
  if (!lines.endsWith("\n")) throw malformed(what, "it does not end with a line break");
  const found = lines.slice(0, -1).split("\n");
  if (found.length > maxNoteSignatures) throw malformed(what, `more than ${maxNoteSignatures} signatures`);
  return found.map(parseSignatureLine);
}

function parseSignatureLine(line: string): NoteSignature {
  const [dash, name = "", base64 = "", ...rest] = line.split(" ");
  if (dash !== "—" || rest.length > 0 || !isKeyName(name)) throw malformed(what, "a line that is no signature");
  const bytes = parseBase64(what, base64);
  if (bytes.length < 5) throw malformed(what, "a signature that is too short");
  return { name, keyId: toHex(bytes.subarray(0, 4)), signature: bytes.subarray(4) };
}

/** Writes a note. */
export function formatNote({ text, signatures }: Note): string {
  const note = `${text}\n${signatures.map(formatSignatureLine).join("")}`;
  // A text that does not end its last line, or a name with a space, would be read as something else.
  const read = parseNote(note);
  if (read.text !== text) throw malformed(what, "the text does not end with a line break");
  return note;
}

/** Writes one signature line, with its line break. */
export function formatSignatureLine({ name, keyId, signature }: NoteSignature): string {
  return `— ${name} ${toBase64(Uint8Array.of(...Uint8Array.fromHex(keyId), ...signature))}\n`;
}

/** What an Ed25519 key signs: the text with its last line break. */
export function noteMessage(text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(text);
}

/** Signs a text with an Ed25519 key of type 1; `formatNote` puts both together. */
export function signNote(
  text: string,
  { name, publicKey }: Pick<NoteKey, "name" | "publicKey">,
  sign: Sign,
): NoteSignature {
  return { name, keyId: noteKeyId(name, keyTypes.ed25519, publicKey), signature: sign(noteMessage(text)) };
}

/** The signatures of a note that claim to be by this key. */
export function signaturesBy({ signatures }: Note, { name, keyId }: NoteKey): NoteSignature[] {
  return signatures.filter((signature) => signature.name === name && signature.keyId === keyId);
}

/**
 * Reads a note and checks it under keys of type 1. Signatures of other keys are ignored; one of ours that fails refuses the note, and so does
 * a note that none of ours signed. Returns the note and the keys that signed it.
 */
export function openNote(curves: NoteCurves, keys: readonly NoteKey[], text: string): Note & { keys: NoteKey[] } {
  const note = parseNote(text);
  const message = noteMessage(note.text);
  const signers = keys.filter((key) => {
    if (key.type !== keyTypes.ed25519)
      throw new Fault("invalid_argument", `\`${key.name}\` is not a key that signs notes`);
    const own = signaturesBy(note, key);
    if (!own.every(({ signature }) => curves.verifyEd25519(key.publicKey, message, signature))) {
      throw new Fault("invalid_argument", `the signature of \`${key.name}\` does not verify`);
    }
    return own.length > 0;
  });
  if (signers.length === 0) throw new Fault("invalid_argument", "no signature by a known key");
  return { ...note, keys: signers };
}

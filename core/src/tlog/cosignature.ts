/** Cosignatures, version 1 (C2SP tlog-cosignature): a witness says when it saw a checkpoint, and that it followed. Layout: SPEC.md. */
import { Fault } from "../fault.ts";
import {
  keyTypes,
  type Note,
  type NoteCurves,
  type NoteKey,
  type NoteSignature,
  noteKeyId,
  type Sign,
  signaturesBy,
} from "./note.ts";
import type { Vkey } from "./vkey.ts";

const utf8 = new TextEncoder();
const timeLength = 8;

/** What a witness signs. `text` is the whole text of the checkpoint, without signatures. */
export function cosignatureMessage(seconds: number, text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(`cosignature/v1\ntime ${seconds}\n${text}`);
}

/** Cosigns the text of a checkpoint. */
export function cosign(
  text: string,
  { name, publicKey }: Pick<NoteKey, "name" | "publicKey">,
  seconds: number,
  sign: Sign,
): NoteSignature {
  const signed = sign(cosignatureMessage(seconds, text));
  const signature = new Uint8Array(timeLength + signed.length);
  new DataView(signature.buffer).setBigUint64(0, BigInt(seconds));
  signature.set(signed, timeLength);
  return { name, keyId: noteKeyId(name, keyTypes.cosignature, publicKey), signature };
}

/** When the witness cosigned this text, in seconds; a cosignature of another key, or one that does not verify, is refused. */
export function verifyCosignature(curves: NoteCurves, witness: Vkey, text: string, line: NoteSignature): number {
  if (witness.type !== keyTypes.cosignature) {
    throw new Fault("invalid_argument", `\`${witness.name}\` is not the key of a witness`);
  }
  const { name, keyId, signature } = line;
  const isWitness = name === witness.name && keyId === witness.keyId;
  const seconds = isWitness && signature.length === timeLength + 64 ? timeOf(signature) : undefined;
  if (
    seconds === undefined ||
    !curves.verifyEd25519(witness.publicKey, cosignatureMessage(seconds, text), signature.subarray(timeLength))
  ) {
    throw new Fault("invalid_argument", `the cosignature of \`${witness.name}\` does not verify`);
  }
  return seconds;
}

/** When the witness last cosigned a note, in seconds; undefined if it did not. One of its lines that fails refuses the note. */
export function findCosignature(curves: NoteCurves, witness: Vkey, note: Note): number | undefined {
  const times = signaturesBy(note, witness).map((line) => verifyCosignature(curves, witness, note.text, line));
  return times.length === 0 ? undefined : Math.max(...times);
}

function timeOf(signature: Uint8Array): number | undefined {
  const seconds = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  return seconds > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(seconds);
}

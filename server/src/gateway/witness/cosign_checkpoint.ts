/** Has one witness cosign one checkpoint, from whatever size the witness has. */
import type { Checkpoint } from "@keystead/core/tlog/checkpoint.ts";
import { verifyCosignature } from "@keystead/core/tlog/cosignature.ts";
import { formatSignatureLine, type NoteCurves, parseSignatureLines } from "@keystead/core/tlog/note.ts";
import { formatAddCheckpoint, parseSizeAnswer, sizeContentType } from "@keystead/core/tlog/witness.ts";
import type { WitnessAnswer } from "./post_checkpoint.ts";
import type { WitnessSetting } from "./witness_settings.ts";

/** A checkpoint to be cosigned: the signed note, and what it says. */
export type SignedCheckpoint = { note: string; text: string; checkpoint: Checkpoint };

export type Cosigning = {
  witness: WitnessSetting;
  curves: NoteCurves;
  consistency(oldSize: number, newSize: number): Promise<readonly Uint8Array[]>;
  post(body: string): Promise<WitnessAnswer>;
};

/**
 * - `cosigned`: the witness's own line, verified under its configured key.
 * - `ahead`: it has cosigned a larger size of this log. A newer checkpoint may go on from there.
 */
export type Cosigned = { kind: "cosigned"; line: string } | { kind: "ahead"; size: number };

/** The witness has cosigned something that this log does not go on from. It will not come right by itself. */
export class AnotherHistory extends Error {
  override readonly name = "AnotherHistory";
}

/** It may have moved on between two requests, if another gateway of this log asks it too. */
const maxAttempts = 3;

/** Throws what went wrong, in words for the operator. */
export async function cosignCheckpoint(
  cosigning: Cosigning,
  { note, text, checkpoint }: SignedCheckpoint,
  lastSize: number,
): Promise<Cosigned> {
  const { size } = checkpoint;
  let oldSize = Math.min(lastSize, size);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const proof = oldSize === 0 || oldSize === size ? [] : await cosigning.consistency(oldSize, size);
    const answer = await cosigning.post(formatAddCheckpoint({ oldSize, proof, checkpoint: note }));
    if (answer.status === 200) return { kind: "cosigned", line: ownLine(cosigning, text, answer.body) };
    if (answer.status === 422) throw new AnotherHistory(`it does not accept the proof from size ${oldSize} to ${size}`);
    if (answer.status === 404) throw new Error("it answers 404: it does not follow this log, whose vkey it needs");
    if (answer.status !== 409) throw new Error(`it answers ${answer.status}`);
    const named = sizeNamed(answer);
    if (named === oldSize) throw new AnotherHistory(`it has cosigned another root of size ${size}`);
    if (named > size) return { kind: "ahead", size: named };
    oldSize = named;
  }
  throw new Error(`it names another size each time`);
}

function sizeNamed({ contentType, body }: WitnessAnswer): number {
  if (contentType.split(";")[0]?.trim() !== sizeContentType) throw new Error("it answers 409 and names no size");
  return parseSizeAnswer(body);
}

/**
 * Its newest line. Lines of other keys are dropped: they would be served as cosignatures that nobody here has checked. So are others of its own:
 * readers take a note of 64 signatures at most, and one witness could make the checkpoint unreadable for all.
 */
function ownLine({ witness: { vkey }, curves }: Cosigning, text: string, body: string): string {
  const own = parseSignatureLines(body).filter(({ name, keyId }) => name === vkey.name && keyId === vkey.keyId);
  const dated = own.map((line) => ({ line, seconds: verifyCosignature(curves, vkey, text, line) }));
  const newest = dated.reduce<(typeof dated)[number] | undefined>(
    (a, b) => (a === undefined || b.seconds > a.seconds ? b : a),
    undefined,
  );
  if (newest === undefined) throw new Error("it answers with no cosignature by its configured key");
  return formatSignatureLine(newest.line);
}

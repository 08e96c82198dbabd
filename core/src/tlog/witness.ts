/** What a log sends to a witness (C2SP tlog-witness, `add-checkpoint`). Layout: SPEC.md. */
import { toBase64 } from "../encoding/base64.ts";
import { malformed, parseHash, parseNumber } from "./lines.ts";

/** `oldSize` is the size that the witness last cosigned, `checkpoint` the signed note. */
export type AddCheckpoint = { oldSize: number; proof: readonly Uint8Array[]; checkpoint: string };

/** A tree of 2^63 entries needs no more. */
export const maxProofHashes = 63;

/** The type of the body that goes with status 409: the size that the witness last cosigned. */
export const sizeContentType = "text/x.tlog.size";

const what = "add-checkpoint request";

/** Writes the body of a request. */
export function formatAddCheckpoint({ oldSize, proof, checkpoint }: AddCheckpoint): string {
  return `old ${oldSize}\n${proof.map((hash) => `${toBase64(hash)}\n`).join("")}\n${checkpoint}`;
}

/** Reads the body of a request. The checkpoint is returned as it came: `openCheckpoint` reads it. */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  const end = body.indexOf("\n\n");
  if (end < 0) throw malformed(what, "no empty line before the checkpoint");
  const [first = "", ...hashes] = body.slice(0, end).split("\n");
  if (!first.startsWith("old ")) throw malformed(what, "no old size");
  if (hashes.length > maxProofHashes) throw malformed(what, `more than ${maxProofHashes} hashes`);
  return {
    oldSize: parseNumber(what, first.slice("old ".length)),
    proof: hashes.map((hash) => parseHash(what, hash)),
    checkpoint: body.slice(end + 2),
  };
}

/** Reads the size in a 409 answer. */
export function parseSizeAnswer(body: string): number {
  if (!body.endsWith("\n")) throw malformed("answer of a witness", "no size");
  return parseNumber("answer of a witness", body.slice(0, -1));
}

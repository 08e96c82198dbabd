/**
 * How long parts of decision contexts are kept: in pieces, each once. A page that differs from the one before by one user shares all but
 * one or two pieces with it; else whoever may do anything at all could store a copy of his organization's longest page with each request.
 *
 * Where a piece ends, its own last bytes decide, so that pieces behind a change are the same as before it. The row of the whole has its
 * digest, and in place of its content the digests of its pieces.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { createPace, finish, type Work } from "@keystead/core/work.ts";
import { equalBytes, sha256 } from "../state/digest.ts";

/** A row of a context, a part of one, or a piece of either. */
export type NewContext = { digest: string; ownerId: string; content: Uint8Array };

/** Shorter content is kept whole. */
const minCutLength = 8_192;

const minPieceLength = 1_024;
const maxPieceLength = 16_384;
/** One place in 2,048 is an end. */
const endMask = 0xffe0_0000;

/** Nothing else that is kept begins like this: contexts begin with their format, pages and records are JSON or a layout. */
const mark = new TextEncoder().encode("keystead pieces\n");
const digestLength = 32;

/** Pieces belong to nobody: they are given out as parts of a whole alone, by the whole's owner. */
export const pieceOwner = "";

/** So much is cut and hashed between two pauses. */
const bytesAtOnce = 256 * 1024;

/** The same as `cuttingContent`, in one go. */
export function rowsOfContent(content: Uint8Array, ownerId: string): NewContext[] {
  return finish(cuttingContent(content, ownerId));
}

/** The rows of one content. */
export function* cuttingContent(content: Uint8Array, ownerId: string): Work<NewContext[]> {
  const digest = toHex(sha256(content));
  if (content.length < minCutLength) return [{ digest, ownerId, content }];
  if (content.length >= bytesAtOnce) yield;
  const pieces: { digest: Uint8Array; piece: Uint8Array }[] = [];
  const pace = createPace(bytesAtOnce);
  for (let from = 0; from < content.length; ) {
    const to = endOf(content, from);
    const piece = content.subarray(from, to);
    pieces.push({ digest: sha256(piece), piece });
    if (pace(to - from)) yield;
    from = to;
  }
  // One piece would have the digest of the whole, and both could not lie in one table.
  if (pieces.length < 2) return [{ digest, ownerId, content }];
  const manifest = Buffer.concat([mark, ...pieces.map((each) => each.digest)]);
  return [
    { digest, ownerId, content: manifest },
    ...pieces.map((each) => ({ digest: toHex(each.digest), ownerId: pieceOwner, content: each.piece })),
  ];
}

/** The digests of a row's pieces, in order; undefined where the row has the content itself. */
export function piecesIn(content: Uint8Array): string[] | undefined {
  const length = content.length - mark.length;
  if (length < digestLength || length % digestLength !== 0) return undefined;
  if (!equalBytes(content.subarray(0, mark.length), mark)) return undefined;
  return Array.from({ length: length / digestLength }, (_, index) => {
    const at = mark.length + index * digestLength;
    return toHex(content.subarray(at, at + digestLength));
  });
}

/** Undefined where a piece is missing. */
export function joinPieces(
  digests: readonly string[],
  pieces: ReadonlyMap<string, Uint8Array>,
): Uint8Array<ArrayBuffer> | undefined {
  const found = digests.map((digest) => pieces.get(digest)).filter((piece) => piece !== undefined);
  return found.length === digests.length ? Uint8Array.from(Buffer.concat(found)) : undefined;
}

/** Each byte's number moves up by one bit with every byte behind it, so that the upper bits depend on the last 32 bytes alone. */
function endOf(content: Uint8Array, from: number): number {
  const last = Math.min(from + maxPieceLength, content.length);
  let hash = 0;
  for (let at = from + minPieceLength; at < last; at++) {
    hash = ((hash << 1) + (numbers[content[at] ?? 0] ?? 0)) | 0;
    if ((hash & endMask) === 0) return at + 1;
  }
  return last;
}

/** Any numbers will do. These stay the same, so that the same content has the same pieces. */
const numbers = Int32Array.from({ length: 256 }, (_, byte) => {
  const digest = sha256(fromHex(byte.toString(16).padStart(2, "0")));
  return new DataView(digest.buffer, digest.byteOffset).getInt32(0);
});

/** One leaf of the activity log, whatever format it was written in. Layouts and rules: SPEC.md in this folder. */
import { decode, encode } from "../encoding/layout.ts";
import { Fault } from "../fault.ts";
import { readFormat1 } from "./leaf_format_1.ts";
import { type LeafFormat2, leafFormat2 } from "./leaf_format_2.ts";

/** A leaf as every reader sees it. One of format 1 is read as what format 2 would say, without a blind. */
export type Leaf = Omit<LeafFormat2, "blind"> & { blind: Uint8Array | undefined };

/** What a new leaf is written from. The blind is drawn by whoever writes it. */
export type NewLeaf = Omit<LeafFormat2, "format">;

/** New leaves have format 2. */
export function encodeLeaf(leaf: NewLeaf): Uint8Array<ArrayBuffer> {
  if (namesAnyTwice(leaf)) throw new Fault("internal", "a leaf names one organization's state twice");
  return encode(leafFormat2, { ...leaf, format: 2 });
}

/**
 * Reads a leaf; one of an unknown format, or with a word that this release does not know, is refused and never guessed at. The format is the first
 * byte of what the MAC covers, so bytes that the signer has written are read in one format only.
 */
export function decodeLeaf(bytes: Uint8Array): Leaf {
  const [format] = bytes;
  if (format === 1) return { ...readFormat1(bytes), blind: undefined };
  if (format !== 2) throw new Fault("invalid_argument", `unknown leaf format ${format}`);
  const leaf = decode(leafFormat2, bytes);
  if (namesAnyTwice(leaf)) throw new Fault("invalid_argument", "malformed bytes: one organization's state twice");
  return leaf;
}

function namesAnyTwice({ states }: Pick<Leaf, "states">): boolean {
  if (states.length < 2) return false;
  return states.some(({ organizationId }, index) =>
    states.slice(0, index).some((other) => organizationId.every((byte, at) => byte === other.organizationId[at])),
  );
}

/**
 * The lower half of the number in a leaf's bytes, which nobody has checked: it says where to look, never what to believe. In all formats it
 * is behind format, boot and the upper half.
 */
export function peekNumber(bytes: Uint8Array): number | undefined {
  const at = 1 + 16 + 4;
  return bytes.length < at + 4 ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
}

/** What names a leaf, in its bytes. Nobody has checked it here: the signer has, of a leaf that it has released. */
export function peekName(
  bytes: Uint8Array,
): { organizationId: Uint8Array; boot: Uint8Array; number: number } | undefined {
  const [format] = bytes;
  // Format 2 has a blind behind the number; event and grounds follow in both.
  const at = format === 1 ? 27 : 43;
  if ((format !== 1 && format !== 2) || bytes.length < at + 16) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return {
    organizationId: bytes.subarray(at, at + 16),
    boot: bytes.subarray(1, 17),
    number: view.getUint32(17) * 2 ** 32 + view.getUint32(21),
  };
}

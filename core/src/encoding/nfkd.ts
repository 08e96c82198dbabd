/**
 * Unicode's compatibility decomposition (NFKD) from bytes to bytes, as BIP-39 demands it of mnemonics and passphrases.
 * The tables are the runtime's, asked one character at a time (or two marks, to learn their order): the text itself
 * never becomes a string. Plain ASCII, nearly every mnemonic, makes no string at all.
 */
import { fromCodePoints, toCodePoints } from "./utf8.ts";

/** U+FDFA decomposes into 18 code points; nothing into more. */
const longestDecomposition = 18;

/** A mark of combining class 1, and one of class 240: the lowest and the highest there are. */
const lowestMark = 0x0334;
const highestMark = 0x0345;

/** Returns a fresh array; the caller wipes it. Text that is not UTF-8 is refused. */
export function toNfkd(utf8: Uint8Array): Uint8Array<ArrayBuffer> {
  if (utf8.every(isAscii)) return Uint8Array.from(utf8);
  const points = toCodePoints(utf8);
  const decomposed = new Uint32Array(points.length * longestDecomposition);
  try {
    const length = decompose(points, decomposed);
    orderMarks(decomposed.subarray(0, length));
    return fromCodePoints(decomposed.subarray(0, length));
  } finally {
    points.fill(0);
    decomposed.fill(0);
  }
}

function isAscii(point: number): boolean {
  return point < 0x80;
}

/** Writes every character's full decomposition, and returns how many code points that made. */
function decompose(points: Uint32Array, out: Uint32Array): number {
  let length = 0;
  for (const point of points) {
    if (isAscii(point)) {
      out[length++] = point;
      continue;
    }
    for (const part of String.fromCodePoint(point).normalize("NFKD")) out[length++] = part.codePointAt(0) ?? 0;
  }
  return length;
}

/** The canonical ordering algorithm (Unicode 3.11): a run of marks is sorted by combining class, equals keep their order. */
function orderMarks(points: Uint32Array): void {
  for (let start = 0; start < points.length; start++) {
    if (!isMark(points[start] ?? 0)) continue;
    let end = start + 1;
    while (end < points.length && isMark(points[end] ?? 0)) end++;
    points.subarray(start, end).sort(compareMarks);
    start = end;
  }
}

/** Whether the combining class is not zero: then the mark moves past the highest or behind the lowest other mark. */
function isMark(point: number): boolean {
  return !isAscii(point) && (compareMarks(point, lowestMark) > 0 || compareMarks(highestMark, point) > 0);
}

/** Positive when the class of `first` is the higher one, both being marks: the runtime then swaps the two. */
function compareMarks(first: number, second: number): number {
  return swaps(first, second) ? 1 : swaps(second, first) ? -1 : 0;
}

function swaps(first: number, second: number): boolean {
  const pair = String.fromCodePoint(first, second);
  return pair.normalize("NFD") !== pair;
}

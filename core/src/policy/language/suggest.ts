/** Names that somebody may have meant. */

const maxNear = 3;
/** More than this is no help in a message. */
const maxListed = 12;

/** "; did you mean `to`?", or the names there are if they are few, or nothing. */
export function suggest(unknown: string, known: readonly string[]): string {
  const near = findNear(unknown, known);
  if (near.length > 0) return `; did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?`;
  return known.length <= maxListed ? `; there are ${known.join(", ")}` : "";
}

function findNear(unknown: string, known: readonly string[]): string[] {
  const wanted = plain(unknown);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return known
    .map((name) => ({ name, distance: distanceOf(wanted, plain(name)) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, maxNear)
    .map(({ name }) => name);
}

/** `chainId`, `chainid` and `chain_id` are the same mistake. */
function plain(name: string): string {
  return name.slice(0, 64).replaceAll("_", "").toLowerCase();
}

/** A name that goes on differently is as near as a slip of one letter. */
function distanceOf(a: string, b: string): number {
  const isStart = Math.min(a.length, b.length) >= 3 && (a.startsWith(b) || b.startsWith(a));
  return Math.min(editDistance(a, b), isStart ? 1 : Number.POSITIVE_INFINITY);
}

/** Letters to insert, remove, replace or swap with their neighbour to get from one to the other. */
function editDistance(a: string, b: string): number {
  const lines = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => lines[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    lines.push(line);
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const replaced = at(row - 1, column - 1) + (isSame ? 0 : 1);
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      line.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(a.length, b.length);
}

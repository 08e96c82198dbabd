/** Part of a list that is sorted by id: at most `limit` of the ids above `after` and below `before`. */
export type Span = { limit: number; before?: string | undefined; after?: string | undefined };

type Direction = "asc" | "desc";

/** Bounds that every id lies between, so that the text of a query need not vary with the cursors that are given. */
const lowest = "";
const highest = "~";

/**
 * How a span is read from a list that is sorted in `order`. A page lies next to its cursor: with one alone it is read away
 * from there, and turned around where the list runs the other way.
 */
export function boundsOf({ before, after }: Span, order: Direction) {
  let direction = order;
  if (before === undefined && after !== undefined) direction = "asc";
  if (before !== undefined && after === undefined) direction = "desc";
  return {
    above: after ?? lowest,
    below: before ?? highest,
    direction,
    inOrder: <T>(read: T[]): T[] => (direction === order ? read : read.reverse()),
  };
}

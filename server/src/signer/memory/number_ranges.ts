/** A set of numbers kept as ranges: where they are nearly contiguous, millions of them are a few pairs. */
export type NumberRanges = {
  add(number: number): void;
  addRange(first: number, last: number): void;
  remove(number: number): void;
  has(number: number): boolean;
  ranges(): readonly (readonly [first: number, last: number])[];
};

export function createNumberRanges(): NumberRanges {
  const ranges: [number, number][] = [];

  /** The first range that ends at or after `number`. */
  function place(number: number): number {
    let low = 0;
    let high = ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ranges[middle]?.[1] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function addRange(first: number, last: number): void {
    const newest = ranges.at(-1);
    if (newest !== undefined && newest[1] === first - 1) {
      newest[1] = last;
      return;
    }
    // Everything that touches [first - 1, last + 1] becomes one range with it.
    const at = place(first - 1);
    let end = at;
    let [from, to] = [first, last];
    for (let range = ranges[end]; range !== undefined && range[0] <= last + 1; range = ranges[end]) {
      from = Math.min(from, range[0]);
      to = Math.max(to, range[1]);
      end += 1;
    }
    ranges.splice(at, end - at, [from, to]);
  }

  function remove(number: number): void {
    const at = place(number);
    const range = ranges[at];
    if (range === undefined || range[0] > number) return;
    const [first, last] = range;
    const around: [number, number][] = [
      [first, number - 1],
      [number + 1, last],
    ];
    ranges.splice(at, 1, ...around.filter(([from, to]) => from <= to));
  }

  return {
    add: (number) => addRange(number, number),
    addRange,
    remove,
    has(number) {
      const range = ranges[place(number)];
      return range !== undefined && range[0] <= number;
    },
    ranges: () => ranges,
  };
}

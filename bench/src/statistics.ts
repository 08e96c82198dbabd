export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The middle of what each round says, in which both were measured. */
export function medianRatio(now: readonly number[], before: readonly number[]): number {
  return median(now.map((value, round) => value / (before[round] ?? Number.NaN)));
}

/** Nearest rank below, so that the value is one that was measured; the mean of the middle two for an even median. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new Error("a quantile of nothing");
  const sorted = Float64Array.from(values).sort();
  const place = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return q === 0.5 ? (low + high) / 2 : low;
}

/** Welch's t: by how many of its standard errors the means of two samples differ. Equal distributions seldom reach 4.5. */
export function welchT(a: readonly number[], b: readonly number[]): number {
  const [first, second] = [momentsOf(a), momentsOf(b)];
  const error = Math.sqrt(first.variance / a.length + second.variance / b.length);
  return error === 0 ? 0 : (first.mean - second.mean) / error;
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  if (values.length < 2) throw new Error("a variance of less than two values");
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, variance };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Nearest rank below, so that the value is one that was measured; the mean of the middle two for an even median. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new Error("a quantile of nothing");
  const sorted = Float64Array.from(values).sort();
  const place = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return q === 0.5 ? (low + high) / 2 : low;
}

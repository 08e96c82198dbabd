/** Computes when first asked and remembers: most facts of a transaction are in no policy's condition. */
export function once<T>(compute: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: compute() };
    return made.value;
  };
}

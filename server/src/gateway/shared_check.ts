/** A check that anybody may ask for, as often as they like: one runs at a time, and its result is kept for `keptMs` after its end. */
export function sharedCheck<T>(keptMs: number, check: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  return () => {
    if (last === undefined) {
      last = check();
      const forget = () => {
        setTimeout(() => {
          last = undefined;
        }, keptMs).unref();
      };
      last.then(forget, forget);
    }
    return last;
  };
}

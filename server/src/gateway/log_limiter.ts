/** Limits how often the same line is logged: trouble with every request, a full disk for example, is one line in a while. */

/** True for a key at most once in `everyMs`. */
export function oncePer(everyMs: number): (key: string) => boolean {
  let lastAtMs = new Map<string, number>();
  return (key) => {
    const now = performance.now();
    if (now - (lastAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < everyMs) return false;
    if (lastAtMs.size >= maxKeys) lastAtMs = new Map();
    lastAtMs.set(key, now);
    return true;
  };
}

const maxKeys = 1_000;

/** Passes on the same message with the same reason once in `everyMs`. */
export function limitLog(
  everyMs: number,
  log: (message: string, cause: unknown) => void,
): (message: string, cause: unknown) => void {
  const mayLog = oncePer(everyMs);
  return (message, cause) => {
    if (mayLog(`${message} ${reasonOf(cause)}`)) log(message, cause);
  };
}

export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

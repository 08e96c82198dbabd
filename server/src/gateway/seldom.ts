/** The same trouble with every request, a full disk for example, is said once in a while and not a thousand times. */
export function seldom(
  everyMs: number,
  say: (message: string, cause: unknown) => void,
): (message: string, cause: unknown) => void {
  let said = new Map<string, number>();
  return (message, cause) => {
    const name = `${message} ${reasonOf(cause)}`;
    const now = performance.now();
    if (now - (said.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
    if (said.size >= mostKept) said = new Map();
    said.set(name, now);
    say(message, cause);
  };
}

const mostKept = 1_000;

export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

const minuteMs = 60_000;
/** Kinds of trouble are few; hosts and numbers in the words make some more. */
const mostNotes = 100;

/** The same words at most once a minute: a provider that is away fails every message. */
export function limitNotes(note: (message: string) => void, now: () => number): (message: string) => void {
  const saidAtMs = new Map<string, number>();
  return (message) => {
    const nowMs = now();
    if (nowMs - (saidAtMs.get(message) ?? Number.NEGATIVE_INFINITY) < minuteMs) return;
    if (saidAtMs.size >= mostNotes) saidAtMs.clear();
    saidAtMs.set(message, nowMs);
    note(message);
  };
}

/** Somebody elsewhere who keeps every checkpoint that a server shows, with the mark of when it came. */
import { setTimeout as pause } from "node:timers/promises";

/** `receivedAt`: how much the disk had written down by then. */
export type SeenCheckpoint = { note: string; receivedAt: number };

/** A server signs at most one a second. */
const everyMs = 100;

/** Adds to `seen` until it is stopped. */
export function watchLog(url: string, seen: SeenCheckpoint[], journalLength: () => number): { stop(): Promise<void> } {
  const known = new Set(seen.map(({ note }) => note));
  let isStopped = false;
  const watching = (async () => {
    while (!isStopped) {
      for (const note of await shown(url)) {
        if (!known.has(note)) seen.push({ note, receivedAt: journalLength() });
        known.add(note);
      }
      await pause(everyMs);
    }
  })();
  return {
    stop() {
      isStopped = true;
      return watching;
    },
  };
}

/** The newest checkpoint of each log; none of a server that is gone, or of a log without one. */
async function shown(url: string): Promise<string[]> {
  try {
    const { logs } = (await (await fetch(`${url}/.well-known/keystead.json`)).json()) as { logs: { logId: string }[] };
    const notes = logs.map(async ({ logId }) => {
      const answer = await fetch(`${url}/log/${logId}/checkpoint`);
      return answer.status === 200 ? [await answer.text()] : [];
    });
    return (await Promise.all(notes)).flat();
  } catch {
    return [];
  }
}

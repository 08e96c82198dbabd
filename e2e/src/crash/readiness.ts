import { setTimeout as pause } from "node:timers/promises";
import type { KeysteadServer } from "../keystead_server.ts";

/** From a kill to the next acknowledged activity, on a machine that is busy with other tests. */
export const backWithinMs = 60_000;

/** `/readyz` says so too, not only the answers. */
export async function ready(server: KeysteadServer): Promise<void> {
  const until = Date.now() + backWithinMs;
  for (;;) {
    const answer = await fetch(`${server.url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    if (Date.now() > until) throw new Error(`not ready: ${await answer?.text()}`);
    await pause(50);
  }
}

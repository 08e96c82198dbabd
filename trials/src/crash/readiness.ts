import { setTimeout as pause } from "node:timers/promises";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { patienceMs } from "../../../core/test/patience.ts";

/** `/readyz` says so too, not only the answers. */
export async function ready(server: KeysteadServer): Promise<void> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const answer = await fetch(`${server.url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    if (Date.now() > until) throw new Error(`not ready: ${await answer?.text()}`);
    await pause(50);
  }
}

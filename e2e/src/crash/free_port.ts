import { once } from "node:events";
import { createServer } from "node:net";
import type { Random } from "../seeded_random.ts";

/**
 * A port outside the range from which the kernel picks: while nobody listens, a client that keeps connecting would
 * sooner or later be given the very port as its own, connect to itself, and keep the new gateway from listening.
 */
export async function freePort(random: Random): Promise<number> {
  for (;;) {
    const port = 20_000 + random.below(10_000);
    const probe = createServer();
    const [taken] = await Promise.race([
      once(probe.listen(port, "127.0.0.1"), "listening").then(() => [false]),
      once(probe, "error").then(() => [true]),
    ]);
    probe.close();
    if (!taken) return port;
  }
}

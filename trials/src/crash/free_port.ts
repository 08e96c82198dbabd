import { createServer } from "node:net";

/**
 * A port below the range from which the kernel picks: while nobody listens, a client that keeps connecting would
 * sooner or later be given the very port as its own, connect to itself, and keep the new gateway from listening.
 * By chance, whatever the seed: two runs on one machine look elsewhere.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => probe.close(resolve));
    if (isFree) return port;
  }
}

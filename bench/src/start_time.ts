import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import type { Database } from "./databases.ts";

export type StartTimes = { firstMs: number[]; secondMs: number[] };

export type Started = { server: KeysteadServer; times: StartTimes; remove(): Promise<void> };

/** Starts `times` new Keysteads, each twice, and leaves the last one running. */
export async function measureStarts(
  database: Database,
  times: number,
  env: Record<string, string> = {},
  checkout?: string,
): Promise<Started> {
  const measured: StartTimes = { firstMs: [], secondMs: [] };
  for (let remaining = times; ; remaining--) {
    const folder = await mkdtemp(join(tmpdir(), "keystead-bench-"));
    const databaseUrl = await database.freshUrl();
    const options = {
      dataFolder: join(folder, "data"),
      ...(databaseUrl !== undefined && { databaseUrl }),
      ...(checkout !== undefined && { checkout }),
      env,
    };
    const first = await timedStart(options);
    measured.firstMs.push(first.ms);
    await first.server.stop();
    const second = await timedStart(options);
    measured.secondMs.push(second.ms);
    const remove = async () => {
      await second.server.stop();
      await rm(folder, { recursive: true, force: true });
    };
    if (remaining <= 1) return { server: second.server, times: measured, remove };
    await remove();
  }
}

/** From spawn until `/readyz` answers 200. */
export async function timedStart(
  options: Parameters<typeof startKeystead>[0],
): Promise<{ server: KeysteadServer; ms: number }> {
  const begun = performance.now();
  const server = await startKeystead(options);
  while ((await fetch(`${server.url}/readyz`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 5));
  return { server, ms: performance.now() - begun };
}

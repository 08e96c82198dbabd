import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CourierSettings } from "./courier_settings.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export type TidyDependencies = { now(): number; note(message: string): void };

/**
 * Removes old messages from the mailbox folder, now and every hour. Also where a provider is configured: the folder may have messages
 * from before. It does not wait for new messages, because none may come.
 */
export function keepMailboxTidy(
  { outboxFolder, contactDays }: Pick<CourierSettings, "outboxFolder" | "contactDays">,
  { now, note }: TidyDependencies,
): void {
  const tidy = () => {
    try {
      removeOld(outboxFolder, now() - contactDays * dayMs);
    } catch (error) {
      const { code = "error" } = error as NodeJS.ErrnoException;
      note(`old messages cannot be removed from ${outboxFolder} (${code})`);
    }
  };
  tidy();
  setInterval(tidy, hourMs).unref();
}

/** Only files with the names that `mailbox.ts` gives: whatever else lies there is not ours. */
function removeOld(folder: string, beforeMs: number): void {
  for (const name of readdirSync(folder)) {
    const [, createdAtMs] = /^\.?([0-9]{1,15})-[0-9a-f-]{36}\.json(?:\.tmp)?$/.exec(name) ?? [];
    if (createdAtMs !== undefined && Number(createdAtMs) < beforeMs) rmSync(join(folder, name), { force: true });
  }
}

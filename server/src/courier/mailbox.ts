/** The mailbox folder, where messages are written while nothing is configured to send them: for development. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DeliveryFailure } from "./delivery_failure.ts";
import { renderMessage } from "./render.ts";
import type { Sender } from "./sender.ts";

export function createMailbox(folder: string): Sender {
  return async (messageId, message) => {
    const { channel, purpose, to, code, createdAtMs } = message;
    const { subject, text } = renderMessage(message);
    const createdAt = new Date(createdAtMs).toISOString();
    const content = { channel, purpose, to, subject, text, code, createdAt };
    try {
      writeWhole(folder, `${createdAtMs}-${messageId}.json`, `${JSON.stringify(content, null, 2)}\n`);
    } catch (error) {
      const { code: why = "error" } = error as NodeJS.ErrnoException;
      throw new DeliveryFailure("storage", false, `a message cannot be written to ${folder} (${why})`);
    }
  };
}

/** Whoever reads the folder finds whole messages. The same message written again is the same file. */
function writeWhole(folder: string, name: string, text: string): void {
  const draft = join(folder, `.${name}.tmp`);
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, join(folder, name));
}

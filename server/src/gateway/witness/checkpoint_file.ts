/**
 * `KEYSTEAD_CHECKPOINT_FILE`: every checkpoint, one behind the other with an empty line between. Whoever keeps the file elsewhere can show later what
 * this log said.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { Logger } from "pino";

export type CheckpointFile = {
  /** Appends in the background, in the order of the calls. */
  append(note: string): void;
  /** Resolves when all is written. */
  close(): Promise<void>;
};

export function openCheckpointFile(path: string, log: Pick<Logger, "error" | "info">): CheckpointFile {
  let file: FileHandle | undefined;
  let isFailing = false;
  let written = Promise.resolve();

  async function write(note: string): Promise<void> {
    try {
      // Each write is on the disk when it returns. Node refuses fsync under the permission model, which the gateway runs in.
      file ??= await open(path, "as+");
      // A note that was cut short ends here, so that it cannot be read as part of the next.
      const gap = (await endsWhole(file)) ? "" : "\n\n";
      await file.appendFile(`${gap}${note}\n`);
      if (isFailing) log.info("KEYSTEAD_CHECKPOINT_FILE is written again");
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error(`KEYSTEAD_CHECKPOINT_FILE cannot be written: ${error}`);
      isFailing = true;
      // It may have been moved away or be on a disk that is back.
      await file?.close().catch(() => undefined);
      file = undefined;
    }
  }

  return {
    append(note) {
      written = written.then(() => write(note));
    },
    async close() {
      await written;
      await file?.close();
    },
  };
}

/** Whether the file is empty or ends with an empty line. */
async function endsWhole(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(2), position: Math.max(0, size - 2) });
  return buffer.toString("latin1", 0, bytesRead) === "\n\n";
}

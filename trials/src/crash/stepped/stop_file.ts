import { join } from "node:path";

/** Where the test writes at which step to stop: beside the data folder, where neither process can write. */
export function stopFile(dataFolder: string): string {
  return join(dataFolder, "..", "stop_at");
}

/** Two digits; that of no step is `00`. */
export const digits = 2;

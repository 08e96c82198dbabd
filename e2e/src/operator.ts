/** The operator's commands, run as an operator runs them. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { repository } from "./keystead_server.ts";

const programs = { cli: "cli/src/main.ts", server: "server/main.mjs" } as const;

export type Ended = { code: number; stdout: string; stderr: string };

/** `keystead` of the CLI, or the server's own, with these arguments on a deployment. */
export function runOperator(
  program: keyof typeof programs,
  args: readonly string[],
  { dataFolder, databaseUrl }: { dataFolder: string; databaseUrl?: string | undefined },
): Promise<Ended> {
  const env = {
    PATH: process.env.PATH ?? "",
    PORT: "0",
    KEYSTEAD_DATA: dataFolder,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(repository, programs[program]), ...args],
      { env, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr }),
    );
  });
}

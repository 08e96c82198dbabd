import { spawn } from "node:child_process";
import { join } from "node:path";

const main = join(import.meta.dirname, "../src/main.ts");

export type Run = { code: number | null; stdout: string; stderr: string };

/** The command line as a user runs it: a process of its own. */
export function runKeystead(
  args: readonly string[],
  { cwd, stdin = "", env = {} }: { cwd: string; stdin?: string; env?: Record<string, string> },
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { env: { PATH: process.env.PATH, ...env }, cwd });
    const run: Run = { code: null, stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      run.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      run.stderr += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...run, code }));
    child.stdin.end(stdin);
  });
}

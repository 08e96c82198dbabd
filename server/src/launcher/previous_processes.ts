import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { DataFolder } from "./data_folder.ts";
import { writeFlag } from "./permissions.ts";
import { Refusal } from "./refusal.ts";

/**
 * The lock goes with the launcher, but its children need a moment to notice that it is gone. Two signers on one memory file would
 * damage it, so a start first waits for those of the start before: one that waits for a slow disk ends only after that. `folders` are
 * those that processes of ours may write.
 */
export async function awaitPreviousProcesses(
  data: DataFolder,
  folders: readonly string[],
  waitMs = 20_000,
): Promise<void> {
  const until = Date.now() + waitMs;
  for (;;) {
    const left = readProcesses(data).find((pid) => isOurs(pid, folders));
    if (left === undefined) return;
    if (Date.now() > until)
      throw new Refusal(`process ${left} of an earlier start still runs on ${data.path}; end it first`);
    await pause(50);
  }
}

export function noteProcesses(data: DataFolder, pids: readonly (number | undefined)[]): void {
  writeFileSync(data.processes, JSON.stringify(pids.filter((pid) => pid !== undefined)), { mode: 0o600 });
}

/** Numbers of processes that are gone do no harm where the file cannot be removed. */
export function forgetProcesses(data: DataFolder): void {
  try {
    rmSync(data.processes, { force: true });
  } catch {
    // Each start looks at what the numbers stand for now.
  }
}

/** A file cut short by a crash names nobody; the signer's own checks of its memory remain. */
function readProcesses(data: DataFolder): number[] {
  try {
    const value: unknown = JSON.parse(readFileSync(data.processes, "utf8"));
    return Array.isArray(value) ? value.filter((pid) => Number.isInteger(pid) && pid > 1) : [];
  } catch {
    return [];
  }
}

/** Numbers are used again for other processes; only ours have the folder they may write on their command line. */
function isOurs(pid: number, folders: readonly string[]): boolean {
  const line = commandLine(pid).split("\0").join(" ");
  return folders.some((folder) => line.includes(`${writeFlag(folder)} `));
}

function commandLine(pid: number): string {
  try {
    if (existsSync("/proc/self/cmdline")) return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  }
}

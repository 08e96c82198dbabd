import { readFileSync } from "node:fs";
import { join } from "node:path";

const watchMs = 500;

const ownPackage = join(import.meta.dirname, "../../../package.json");

/**
 * npm hands a signal on to what it started, except in the moment between starting it and listening for signals: a signal that
 * arrives then ends npm alone. A launcher left behind like that keeps the data folder locked, and nobody sees it; so under
 * `npm start` the end of npm counts as a request to stop.
 *
 * Only this repository's own `start` script counts, because npm is the direct parent there. `npx keystead check-database` and other
 * people's scripts have npm's variables too, with some other process in between. `npx keystead witness` has a watch of its own
 * (`cli/src/npx_parent.ts`).
 */
export function stopWithNpm(env: Record<string, string | undefined>, stop: () => void): void {
  if (env.npm_lifecycle_event !== "start" || env.npm_package_json !== ownPackage) return;
  if (!env.npm_execpath?.endsWith("npm-cli.js")) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm && isNpm(npm)) return;
    clearInterval(timer);
    stop();
  }, watchMs);
  timer.unref();
}

/** npm may have ended before this process could ask for its number; another process is its parent by then. */
function isNpm(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("npm");
  } catch {
    // Without /proc, or when it hides other people's processes, only a change of the parent is seen.
    return true;
  }
}

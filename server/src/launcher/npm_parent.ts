import { readFileSync } from "node:fs";

const watchMs = 500;

/**
 * npm hands a signal on to what it started, except in the moment between starting it and listening for signals: a signal that
 * arrives then ends npm alone. A launcher left behind like that keeps the data folder locked, and nobody sees it; so under
 * `npm start` the end of npm counts as a request to stop. Does nothing where npm did not start this process.
 */
export function stopWithNpm(env: Record<string, string | undefined>, stop: () => void): void {
  if (env.npm_lifecycle_event === undefined || !env.npm_execpath?.endsWith("npm-cli.js")) return;
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

import { readFileSync } from "node:fs";

const watchMs = 500;

/**
 * `npx` starts a shell that starts this process. npm hands SIGTERM on to the shell, and the shell ends of it without handing it on. A
 * command that runs until it is stopped would stay behind with its port in use, so the end of the shell counts as a request to stop,
 * as the end of npm does under `npm start` (`server/src/launcher/npm_parent.ts`).
 *
 * Only where npx runs this command itself. Programs that npx runs pass npm's variables on to everything they start.
 */
export function stopWithNpx(env: Record<string, string | undefined>, stop: () => void): void {
  if (env.npm_lifecycle_event !== "npx" || !/^['"]?keystead\b/.test(env.npm_lifecycle_script ?? "")) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell && isOfNpx(shell)) return;
    clearInterval(timer);
    stop();
  }, watchMs);
  timer.unref();
}

/** The shell may have ended before this process could ask for its number; another process is its parent by then. */
function isOfNpx(pid: number): boolean {
  try {
    // `sh -c keystead …`, or npm itself (`npm exec keystead …`) if its shell has made way for this process.
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("keystead");
  } catch {
    // Without /proc, or when it hides other people's processes, only a change of the parent is seen.
    return true;
  }
}

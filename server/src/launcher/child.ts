import type { ChildProcess } from "node:child_process";

/** A started process. `gone` settles once, with the reason in words, when no part of it runs any more. */
export type Child = {
  process: ChildProcess;
  startedAtMs: number;
  gone: Promise<string>;
  isGone(): boolean;
};

export function watch(process: ChildProcess): Child {
  let ended = false;
  const gone = new Promise<string>((resolve) => {
    const end = (reason: string) => {
      ended = true;
      resolve(reason);
    };
    process.once("exit", (code, signal) => end(signal ? `signal ${signal}` : `exit code ${code}`));
    process.once("error", (error) => {
      // Without a pid it never ran; other errors (a failed kill or send) say nothing about its end.
      if (process.pid === undefined) end(error.message);
    });
    process.on("error", () => {});
  });
  return { process, startedAtMs: Date.now(), gone, isGone: () => ended };
}

/** Waits for the end of a process that was asked to end, and ends it when it takes too long. */
export async function endWithin(child: Child, timeMs: number): Promise<void> {
  const timer = setTimeout(() => child.process.kill("SIGKILL"), timeMs);
  await child.gone;
  clearTimeout(timer);
}

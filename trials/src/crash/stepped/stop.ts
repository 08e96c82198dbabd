/** Lets a test stop this process exactly at a step: it sends SIGSTOP to itself, and is where it is until it is killed or continued. */
import { openSync, readSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { constants } from "node:os";
import { resolve } from "node:path";
import { observeSteps, type Step, steps } from "../../../../server/src/state/steps.ts";
import { digits, stopFile } from "./stop_file.ts";

/** The working folder of either process lies in the data folder. */
const folder = resolve("..");

export async function runStopping(load: () => Promise<unknown>): Promise<void> {
  const file = openSync(stopFile(folder), "r");
  const numbers = new Map<Step, number>(steps.map(({ name }, index) => [name, index + 1]));
  const told = Buffer.alloc(digits);
  // The signer closes this way when it locks itself down.
  const signalMyself = Reflect.get(process, "_kill").bind(process, process.pid, constants.signals.SIGSTOP);
  observeSteps((step) => {
    readSync(file, told, 0, digits, 0);
    if (Number(told.toString("latin1")) === numbers.get(step)) signalMyself();
  });
  await load();
  flushCompileCache();
}

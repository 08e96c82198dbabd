/**
 * Company for the bare costs. Two CPUs often share a core, and one whose neighbour is busy does the same work in more time. The
 * server under load never has the machine to itself, so what it is held against must not have it either. Each neighbour works half
 * of the time: less than the load keeps the other CPUs busy, so that the comparison errs against us.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

export type Neighbours = {
  /** Has them work while something is measured. */
  beside<T>(measure: () => Promise<T>): Promise<T>;
  stop(): void;
};

/** One for each CPU but ours. */
export function startNeighbours(): Neighbours {
  const entry = fileURLToPath(new URL("./neighbour_entry.ts", import.meta.url));
  const children = Array.from({ length: cpus().length - 1 }, () => fork(entry));
  const tell = (order: "work" | "rest") => Promise.all(children.map((child) => ask(child, order)));
  return {
    async beside(measure) {
      await tell("work");
      const measured = await measure();
      await tell("rest");
      return measured;
    },
    stop() {
      for (const child of children) child.disconnect();
    },
  };
}

async function ask(child: ChildProcess, order: "work" | "rest"): Promise<void> {
  const heard = once(child, "message");
  child.send(order);
  await heard;
}

/** How busy all CPUs were, from 0 to 1, from the call until the returned function is called. */
export function busyShare(): () => number {
  const read = () => {
    let [busy, all] = [0, 0];
    for (const { times } of cpus()) {
      const total = times.user + times.nice + times.sys + times.irq;
      busy += total;
      all += total + times.idle;
    }
    return { busy, all };
  };
  const before = read();
  return () => {
    const after = read();
    return (after.busy - before.busy) / (after.all - before.all);
  };
}

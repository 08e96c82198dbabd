/** The bench's end of the load generator. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromLoad, Job, LoadResult, ToLoad } from "./load_messages.ts";

export type Load = {
  /** Signs the requests, then runs `begin`, sends them all, and returns. */
  run(job: Job, begin?: () => Promise<void>): Promise<LoadResult>;
  stop(): void;
};

export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL("./load_entry.ts", import.meta.url)));
  return {
    async run(job, begin) {
      const prepared = await ask(child, { kind: "prepare", job });
      if (prepared.kind === "failed") throw new Error(prepared.message);
      await begin?.();
      const answer = await ask(child, { kind: "go" });
      if (answer.kind !== "done") throw new Error(answer.kind === "failed" ? answer.message : "an unexpected answer");
      return answer.result;
    },
    stop: () => child.disconnect(),
  };
}

async function ask(child: ChildProcess, message: ToLoad): Promise<FromLoad> {
  const answered = once(child, "message") as Promise<[FromLoad]>;
  child.send(message);
  return (await answered)[0];
}

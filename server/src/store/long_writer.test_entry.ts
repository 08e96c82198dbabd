/** A thread of long commits that ends in the middle of one. */
import { parentPort } from "node:worker_threads";
import type { LongWriterRequest } from "./long_writer.ts";

parentPort?.on("message", ({ kind }: LongWriterRequest) => {
  if (kind === "write") process.exit(7);
  if (kind === "plan") parentPort?.postMessage({ kind: "done" });
});

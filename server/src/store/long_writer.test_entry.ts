/** A thread of long commits that ends in the middle of one. */
import { parentPort } from "node:worker_threads";
import type { LongWriterRequest } from "./long_writer.ts";

parentPort?.on("message", (request: LongWriterRequest) => {
  if (request.kind === "write") process.exit(7);
  if (request.kind !== "plan") return;
  const { number } = request;
  // Answers to what was asked before, or is yet to be asked, are nobody's.
  for (const other of [number - 1, number + 1]) parentPort?.postMessage({ kind: "done", number: other });
  parentPort?.postMessage({ kind: "done", number });
});

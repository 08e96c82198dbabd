/** The rules are the server's: its code decides, in a process of its own and without any data. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CommandContext, refuseArguments, UsageError } from "../command.ts";

const replayMain = join(import.meta.dirname, "../../../server/src/proofs/main.ts");

export function proofReplay(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [path] = context.args;
  if (path === undefined) throw new UsageError("proof replay needs a file, as `proof context` prints it");
  if (!existsSync(replayMain)) throw new Error(`this command needs the server's code at ${replayMain}`);
  return new Promise((done, reject) => {
    const replay = spawn(process.execPath, [replayMain, resolve(path)], { stdio: "inherit" });
    replay.once("error", reject);
    replay.once("exit", (code) => done(code ?? 2));
  });
}

/** Follows logs and cosigns their checkpoints. It verifies signatures, so the server's code does it, in a process of its own. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, refuseArguments, UsageError } from "../command.ts";
import { stopWithNpx } from "../npx_parent.ts";

const program = join(import.meta.dirname, "../../../server/src/witness/main.ts");

export const witness: Command = {
  usage: "witness --log VKEY… --port N [--host HOST] [--data DIR]",
  summary: "follow logs and cosign each checkpoint that goes on from the one before; run it on a machine of your own",
  flags: ["log", "port", "host", "data"],
  run(context) {
    refuseArguments(context, 0);
    const { log: logs = [], port = "", host = "127.0.0.1", data = "keystead-witness" } = context.flags;
    if (logs.length === 0) throw new UsageError("witness needs --log VKEY, once for each log that it follows");
    if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65535) {
      throw new UsageError("witness needs --port N, a whole number from 0 to 65535; 0 takes any free port");
    }
    if (!existsSync(program)) throw new Error(`this command needs the server's code at ${program}`);
    return run([resolve(data), host, port, ...logs]);
  },
};

function run(args: readonly string[]): Promise<number> {
  return new Promise((done, reject) => {
    const flags = ["--disable-warning=ExperimentalWarning"];
    // The channel has no messages: when this process is killed, it closes, and the witness ends too.
    const started = spawn(process.execPath, [...flags, program, ...args], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    process.on("SIGTERM", (signal) => started.kill(signal)).on("SIGINT", () => undefined);
    stopWithNpx(process.env, () => started.kill("SIGTERM"));
    started.once("error", reject);
    started.once("exit", (code) => done(code ?? 1));
  });
}

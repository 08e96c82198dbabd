/** Checks an export or a proof file. It verifies signatures, so the server's code does it, in a process of its own. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CommandContext, refuseArguments, UsageError } from "../command.ts";
import { logKeyOf } from "../log/log_key.ts";

const program = join(import.meta.dirname, "../../../server/src/verifier/main.ts");

export function logVerify(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [path] = context.args;
  if (path === undefined) throw new UsageError("log verify needs the folder of an export, or a .tlog-proof file");
  if (!existsSync(path)) throw new UsageError(`there is no file or folder \`${path}\``);
  if (!existsSync(program)) throw new Error(`this command needs the server's code at ${program}`);
  const { witness = [], since, replay = false, "sub-organizations": withChildren = false } = context.flags;
  return run([
    `--key=${logKeyOf(context.flags)}`,
    ...witness.map((vkey) => `--witness=${vkey}`),
    ...(since === undefined ? [] : [`--since=${since}`]),
    ...(replay ? ["--replay"] : []),
    ...(withChildren ? ["--sub-organizations"] : []),
    ...["--", path],
  ]);
}

function run(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const flags = ["--disable-warning=ExperimentalWarning"];
    const started = spawn(process.execPath, [...flags, program, ...args], { stdio: ["ignore", "inherit", "inherit"] });
    started.once("error", reject);
    started.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Commands that work on the data itself. The server does them, so they run where its data is and never over the network. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, type CommandContext, group, refuseArguments, UsageError } from "../command.ts";

const serverMain = join(import.meta.dirname, "../../../server/main.mjs");

export const acceptDatabase: Command = {
  usage: "accept-database",
  summary: "make the signer accept what the database holds, after a restore",
  run: (context) => runOnData("accept-database", context),
};

export const acceptClock: Command = {
  usage: "accept-clock",
  summary: "make the signer accept this machine's clock",
  run: (context) => runOnData("accept-clock", context),
};

export const checkLog: Command = {
  usage: "check-log",
  summary: "name every leaf the signer released that the database lacks",
  run: (context) => runOnData("check-log", context),
};

export const checkDatabase: Command = {
  usage: "check-database [--repair]",
  summary: "name every row that is not what the signer wrote; with --repair, rebuild those that follow from the rest",
  flags: ["repair"],
  run: (context) => runOnData(context.flags.repair === true ? "repair-database" : "check-database", context),
};

const showKeys: Command = {
  usage: "keys show",
  summary: "print the deployment's public keys, which clients pin, as the signer told them; the server may run",
  run(context) {
    refuseArguments(context, 0);
    const path = join(process.env.KEYSTEAD_DATA || "data", "public_keys.json");
    if (!existsSync(path)) {
      throw new Error(`there is no ${path}: the server writes it when it starts; set KEYSTEAD_DATA to its data folder`);
    }
    process.stdout.write(readFileSync(path, "utf8"));
    return 0;
  },
};

const rotateKeys: Command = {
  usage: "keys rotate --old-key-saved",
  summary: "replace the root key and seal everything again under a new one; run it again if it was cut short",
  flags: ["old-key-saved"],
  run(context) {
    refuseArguments(context, 0);
    return runServer(["rotate-keys", ...(context.flags["old-key-saved"] ? ["--old-key-saved"] : [])]);
  },
};

export const keys: Command = group(
  "keys",
  new Map([
    ["show", showKeys],
    ["rotate", rotateKeys],
  ]),
);

export const init: Command = {
  usage: "init --root-public-key HEX",
  summary: "prepare a data folder for a root user whose private key stays with you; then start the server",
  flags: ["root-public-key"],
  run(context) {
    refuseArguments(context, 0);
    const key = context.flags["root-public-key"];
    if (key === undefined) throw new UsageError("init needs --root-public-key HEX, a P-256 public key");
    return runServer(["init", "--root-public-key", key]);
  },
};

function runOnData(name: string, context: CommandContext): Promise<number> {
  refuseArguments(context, 0);
  return runServer([name]);
}

/** Runs the server's own program in this terminal, because it may ask for the passphrase. */
function runServer(args: string[]): Promise<number> {
  if (!existsSync(serverMain)) throw new Error(`this command needs the server's code at ${serverMain}`);
  return new Promise((resolve, reject) => {
    const server = spawn(process.execPath, [serverMain, ...args], { stdio: "inherit" });
    // A terminal's Ctrl-C reaches the server by itself; a plain kill of this process does not.
    const pass = (signal: NodeJS.Signals) => server.kill(signal);
    process.on("SIGTERM", pass).on("SIGINT", () => undefined);
    server.once("error", reject);
    server.once("exit", (code) => resolve(code ?? 1));
  });
}

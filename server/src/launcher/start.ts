import { existsSync, realpathSync } from "node:fs";
import { constants } from "node:os";
import { basename, resolve } from "node:path";
import {
  type Bootstrap,
  birthOf,
  hasBootstrap,
  isEveryAddress,
  keepIds,
  openBootstrap,
  rewriteUrls,
  urlOf,
} from "./bootstrap.ts";
import type { Code } from "./code.ts";
import { type Config, parseConfig } from "./config.ts";
import {
  createDataFolder,
  createInnerFolders,
  type DataFolder,
  dataFolderAt,
  explainDisk,
  reasonOf,
  refuseInside,
  refuseWithoutData,
} from "./data_folder.ts";
import { syncFolder } from "./durable_file.ts";
import { gatewayEnvironment } from "./environment.ts";
import { closeInheritedDescriptors } from "./inherited_descriptors.ts";
import { type Launched, launch } from "./launch.ts";
import { type Lock, lockData } from "./lock.ts";
import { stopWithNpm } from "./npm_parent.ts";
import { awaitPreviousProcesses } from "./previous_processes.ts";
import { writePublicKeys } from "./public_keys.ts";
import { Refusal } from "./refusal.ts";
import { rootKeyProvider } from "./root_key.ts";
import { firstOf, type RootKeyProvider } from "./root_key_provider.ts";
import type { Orders } from "./signer_process.ts";
import { chooseUsers } from "./users.ts";

export type Surroundings = {
  args: readonly string[];
  env: Record<string, string | undefined>;
  cwd: string;
  say(line: string): void;
  code: Code;
};

/** Prepares the data folder and starts the processes; `init` ends with the files. Throws a Refusal when it must not go on. */
export async function start(surroundings: Surroundings): Promise<Launched> {
  const config = parseConfig(surroundings.args, surroundings.env, surroundings.cwd);
  const { code } = surroundings;
  if (worksOnData(config)) refuseWithoutData(dataFolderAt(config.dataFolder));
  if (config.command === "rotate-keys" && !config.oldKeySaved) refuseUnsaved(dataFolderAt(config.dataFolder));
  createDataFolder(config.dataFolder);
  // Permissions are granted to real paths.
  const data = dataFolderAt(realpathSync(config.dataFolder));
  refuseInside(data, [...code.gateway.readable, ...code.signer.readable]);
  let lock: Lock | undefined;
  try {
    lock = lockData(data.path);
    const launched = await startLocked(surroundings, config, code, data);
    return { stop: launched.stop, ended: launched.ended.finally(lock.release) };
  } catch (error) {
    lock?.release();
    throw explainDisk(error, data.path);
  }
}

async function startLocked(
  { env, cwd, say }: Surroundings,
  config: Config,
  code: Code,
  data: DataFolder,
): Promise<Launched> {
  await awaitPreviousProcesses(data);
  if (config.command === "init" && hasBootstrap(data)) {
    throw new Refusal(
      `${data.bootstrap} exists: the first start of this folder has happened with the key in it; ` +
        "use a new data folder to start with another key",
    );
  }
  const isRotation = config.command === "rotate-keys";
  const rootKey = await rootKeyProvider(data, config.passphrase, isRotation);
  await closeInheritedDescriptors();
  const bootstrap = await bootstrapWith(rootKey, config, data);
  if (isRotation) keepIds(data, bootstrap);
  if (config.command === "init") {
    say(`wrote ${data.bootstrap}; root key: ${rootKey.describe()}`);
    return { stop() {}, ended: Promise.resolve(0) };
  }
  createInnerFolders(data);
  const users = await chooseUsers(config, code, data);
  const gatewayEnv = gatewayEnvironment(env, config, data);
  let { baseUrl } = bootstrap;
  return launch({
    code,
    data,
    users,
    rootKey,
    orders: ordersFor(config, data, bootstrap),
    gatewayEnv,
    endsByItself: worksOnData(config),
    restartPauseMs: config.restartPauseMs,
    say,
    onDone() {
      if (!isRotation) return;
      // The signer has written its memory anew; that must be on the disk before the key of the old one goes.
      syncFolder(data.signer);
      rootKey.finishRotation();
      say("the root key is replaced; keep your copy of the old one as long as any backup from before");
    },
    onListening(port) {
      // With PORT=0 the address is known only now; a later gateway gets the same.
      gatewayEnv.PORT = String(port);
      baseUrl = urlOf(config.host, port);
      try {
        rewriteUrls(data, baseUrl);
      } catch (error) {
        say(`${data.bootstrap} does not get the address ${baseUrl}: ${reasonOf(error)}`);
      }
    },
    onReady() {
      if (config.command !== "serve") return;
      const hasKey = bootstrap.apiPrivateKey !== undefined;
      say(`Keystead is ready at ${baseUrl}${isEveryAddress(config.host) ? " (it listens on all addresses)" : ""}`);
      say(`  first organization${hasKey ? " and API key" : ""}: ${data.bootstrap}`);
      say(`  public keys, for clients to pin: ${data.publicKeys}`);
      say(`  root key: ${rootKey.describe()}`);
      say(`  ${users.line}`);
      say(`  try: ${firstRequest(config, cwd, hasKey)}`);
    },
    onKeys(publicKeys) {
      if (config.command !== "serve") return;
      try {
        const { replacesOthers } = writePublicKeys(data, publicKeys);
        if (replacesOthers)
          say(`${data.publicKeys} had other keys: clients that pinned those will believe nothing here`);
      } catch (error) {
        say(`${data.publicKeys} does not get the public keys: ${reasonOf(error)}`);
      }
    },
  });
}

async function bootstrapWith(rootKey: RootKeyProvider, config: Config, data: DataFolder): Promise<Bootstrap> {
  const keys = await rootKey.open();
  try {
    return openBootstrap(data, firstOf(keys), urlOf(config.host, config.port), config);
  } finally {
    keys.fill(0);
  }
}

function ordersFor(config: Config, data: DataFolder, bootstrap: Bootstrap): Orders {
  return {
    memoryFolder: data.signer,
    adoptUnknown: config.usesDatabaseServer,
    acceptDatabase: config.command === "accept-database",
    reseal: config.command === "rotate-keys",
    vouch: ["check-log", "check-database", "repair-database"].includes(config.command),
    resetClock: config.command === "accept-clock",
    limits: config.limits,
    birth: birthOf(bootstrap),
  };
}

/** The end of a rotation leaves no copy of the old key: whoever reads the disk later must not open old backups with it. */
function refuseUnsaved(data: DataFolder): void {
  const path = existsSync(data.sealedRootKey) ? data.sealedRootKey : data.rootKey;
  const copy = `/SOMEWHERE/ELSE/${basename(path)}.before-${new Date().toISOString().slice(0, 10)}`;
  throw new Refusal(
    `a rotation removes the old root key, and backups made before open with that one alone; save it first: cp -p ${quoted(path)} ${copy}` +
      "; then run: npx keystead keys rotate --old-key-saved",
    2,
  );
}

/** The commands that do one piece of work on data that is there. */
function worksOnData({ command }: Config): boolean {
  return command !== "serve" && command !== "init";
}

function firstRequest({ dataFolder }: Config, cwd: string, hasKey: boolean): string {
  const request = `npx keystead whoami${hasKey ? "" : " --api-key-file FILE"}`;
  if (dataFolder === resolve(cwd, "data")) return request;
  return `KEYSTEAD_DATA=${quoted(dataFolder)} ${request}`;
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Ctrl-C under `npm start` arrives twice: from the terminal, and from npm, which passes its own on. Both are one request to stop. */
const sameSignalMs = 1000;

/** Runs a start to its end with this process's arguments, signals and terminal, and sets the exit code; a refusal is one line. */
export async function runFromTerminal(code: Code): Promise<void> {
  // By default SIGUSR1 opens the inspector, and this process handles the root key.
  process.on("SIGUSR1", () => {});
  // Losing the terminal or a log pipe must not end the service.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  let launched: Launched | undefined;
  let stoppedAtMs: number | undefined;
  const stop = (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => {
    if (!launched) process.exit(128 + constants.signals[signal]);
    if (stoppedAtMs !== undefined && performance.now() - stoppedAtMs < sameSignalMs) return;
    stoppedAtMs = performance.now();
    launched.stop();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  stopWithNpm(process.env, () => stop("SIGTERM"));
  try {
    const say = (line: string) => process.stdout.write(`${line}\n`);
    launched = await start({ args: process.argv.slice(2), env: process.env, cwd: process.cwd(), say, code });
    process.exitCode = await launched.ended;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    process.stderr.write(`keystead: ${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

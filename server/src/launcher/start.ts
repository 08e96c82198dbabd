import { existsSync, realpathSync } from "node:fs";
import { constants } from "node:os";
import { basename, resolve } from "node:path";
import {
  type Bootstrap,
  hasBootstrap,
  isEveryAddress,
  keepIds,
  openBootstrap,
  rewriteUrls,
  urlOf,
} from "./bootstrap.ts";
import { prepareCheckpointFile } from "./checkpoint_file.ts";
import type { Code } from "./code.ts";
import { sandboxWarning } from "./code_settings.ts";
import { type Config, parseConfig } from "./config.ts";
import {
  createDataFolder,
  createProcessFolders,
  type DataFolder,
  dataFolderAt,
  explainDisk,
  reasonOf,
  refuseInside,
  refuseWithoutData,
} from "./data_folder.ts";
import { syncFolder } from "./durable_file.ts";
import { environmentOf, withLauncherSettings } from "./environment.ts";
import { closeInheritedDescriptors } from "./inherited_descriptors.ts";
import { type Launched, launch } from "./launch.ts";
import { type Lock, lockData } from "./lock.ts";
import { createNodeDigest } from "./node_digest.ts";
import { stopWithNpm } from "./npm_parent.ts";
import { awaitPreviousProcesses } from "./previous_processes.ts";
import { chooseUsers, type Users } from "./process_users.ts";
import { type ProcessTable, processes, processNames, startedProcesses } from "./processes.ts";
import { type PublicKeys, writePublicKeys } from "./public_keys.ts";
import { Refusal } from "./refusal.ts";
import { rootKeyProvider } from "./root_key.ts";
import { firstOf, type RootKeyProvider } from "./root_key_provider.ts";
import { encodeOrders, signerOrders } from "./signer_orders.ts";

export type Surroundings = {
  args: readonly string[];
  env: Record<string, string | undefined>;
  cwd: string;
  say(line: string): void;
  code: Code;
  /** Always `processes`, but for programs that stand in for a process in tests and read more settings. */
  table: ProcessTable;
};

/** Prepares the data folder and starts the processes; `init` ends with the files. Throws a Refusal when it must not go on. */
export async function start(surroundings: Surroundings): Promise<Launched> {
  const config = parseConfig(surroundings.args, surroundings.env, surroundings.cwd);
  if (worksOnData(config)) refuseWithoutData(dataFolderAt(config.dataFolder));
  if (config.command === "rotate-keys" && !config.oldKeySaved) refuseUnsaved(dataFolderAt(config.dataFolder));
  createDataFolder(config.dataFolder);
  // Permissions are granted to real paths.
  const data = dataFolderAt(realpathSync(config.dataFolder));
  refuseInside(
    data,
    processNames.flatMap((name) => surroundings.code[name].readable),
  );
  let lock: Lock | undefined;
  try {
    lock = lockData(data.path, worksOnData(config));
    const launched = await startLocked(surroundings, config, data);
    return { stop: launched.stop, ended: launched.ended.finally(lock.release) };
  } catch (error) {
    lock?.release();
    throw explainDisk(error, data.path);
  }
}

async function startLocked(surroundings: Surroundings, config: Config, data: DataFolder): Promise<Launched> {
  const { env, say, code, table } = surroundings;
  await awaitPreviousProcesses(
    data,
    processNames.map((name) => data[table[name].folder]),
  );
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
  const names = startedProcesses(table, env);
  const folders = names.map((name) => ({ path: data[table[name].folder], refusesLinks: table[name].refusesLinks }));
  createProcessFolders(data, folders);
  const users = await chooseUsers({ table, names, userIds: config.userIds, code, data });
  const checkpointFile = checkpointFileFor(config, users, [
    data.path,
    ...processNames.flatMap((name) => code[name].readable),
  ]);
  // With PORT=0 the port is known once a gateway listens; a later gateway gets the same.
  let { port } = config;
  const courierKey = keptKey();
  const prepared: Prepared = { surroundings, config, data, rootKey, bootstrap, users };
  return launch({
    table,
    names,
    code,
    data,
    users,
    environment: (name) =>
      environmentOf(table[name], withLauncherSettings(env, { ...config, checkpointFile }, data, port)),
    files: { gateway: checkpointFile === undefined ? [] : [checkpointFile] },
    orders: {
      "root key": () => rootKey.open(),
      "signer orders": async () => encodeOrders(signerOrders(config, data, bootstrap, port)),
      "courier key": courierKey.copy,
      "node digest": createNodeDigest({ say, kept: data.nodeDigest }),
    },
    restartPauseMs: config.restartPauseMs,
    endsByItself: worksOnData(config),
    say,
    onDone: () => finishWork(prepared),
    onListening(listeningPort) {
      port = listeningPort;
      keepAddress(prepared, port);
    },
    onReady: () => greet(prepared, port),
    onKeys: (publicKeys, attestationRoot) => keepPublicKeys(prepared, publicKeys, attestationRoot),
    onCourierKey: courierKey.keep,
  });
}

/** Only a server that serves has checkpoints to write. */
function checkpointFileFor(
  { command, checkpointFile }: Config,
  users: Users,
  closed: readonly string[],
): string | undefined {
  if (command !== "serve" || checkpointFile === undefined) return undefined;
  return prepareCheckpointFile(checkpointFile, users.of.gateway, closed);
}

/** A key that one process gives for another. It is kept, because the other may be started at any time; whoever asks before it comes waits. */
function keptKey(): { keep(key: Uint8Array): void; copy(): Promise<Uint8Array> } {
  const first = Promise.withResolvers<void>();
  let newest = new Uint8Array();
  return {
    keep(key) {
      newest.fill(0);
      newest = Uint8Array.from(key);
      key.fill(0);
      first.resolve();
    },
    async copy() {
      await first.promise;
      return Uint8Array.from(newest);
    },
  };
}

/** What a start has read and made before the processes run. */
type Prepared = {
  surroundings: Surroundings;
  config: Config;
  data: DataFolder;
  rootKey: RootKeyProvider;
  bootstrap: Bootstrap;
  users: Users;
};

function finishWork({ surroundings: { say }, config, data, rootKey }: Prepared): void {
  if (config.command !== "rotate-keys") return;
  // The signer has written its memory anew; that must be on the disk before the key of the old one goes.
  syncFolder(data.signer);
  rootKey.finishRotation();
  say("the root key is replaced; keep your copy of the old one as long as any backup from before");
}

function keepAddress({ surroundings: { say }, config, data }: Prepared, port: number): void {
  const baseUrl = urlOf(config.host, port);
  try {
    rewriteUrls(data, baseUrl, urlOf(config.host, config.proxy.port ?? port));
  } catch (error) {
    say(`could not write the address ${baseUrl} to ${data.bootstrap}: ${reasonOf(error)}`);
  }
}

function keepPublicKeys(
  { surroundings: { say }, config, data }: Prepared,
  publicKeys: PublicKeys,
  attestationRoot: string,
): void {
  if (config.command !== "serve") return;
  try {
    const { replacesOthers } = writePublicKeys(data, publicKeys, attestationRoot);
    if (replacesOthers)
      say(`${data.publicKeys} contained different keys; clients that pinned them will reject this server`);
  } catch (error) {
    say(`could not write the public keys to ${data.publicKeys}: ${reasonOf(error)}`);
  }
}

function greet({ surroundings: { say, cwd }, config, data, rootKey, bootstrap, users }: Prepared, port: number): void {
  if (config.command !== "serve") return;
  const hasKey = bootstrap.apiPrivateKey !== undefined;
  const everywhere = isEveryAddress(config.host) ? " (it listens on all addresses)" : "";
  say(`Keystead is ready at ${urlOf(config.host, port)}${everywhere}`);
  say(`  first organization${hasKey ? " and API key" : ""}: ${data.bootstrap}`);
  say(`  public keys, for clients to pin: ${data.publicKeys}`);
  say(`  root key: ${rootKey.describe()}`);
  say(`  ${users.line}`);
  if (config.codes.hasSandboxCodes) say(sandboxWarning);
  say(`  try: ${firstRequest(config, cwd, hasKey)}`);
}

async function bootstrapWith(rootKey: RootKeyProvider, config: Config, data: DataFolder): Promise<Bootstrap> {
  const keys = await rootKey.open();
  try {
    const { host, port, proxy } = config;
    return openBootstrap(data, firstOf(keys), urlOf(host, port), config, urlOf(host, proxy.port ?? port));
  } finally {
    keys.fill(0);
  }
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
export async function runFromTerminal(code: Code, table: ProcessTable = processes): Promise<void> {
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
    launched = await start({ args: process.argv.slice(2), env: process.env, cwd: process.cwd(), say, code, table });
    process.exitCode = await launched.ended;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    process.stderr.write(`keystead: ${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

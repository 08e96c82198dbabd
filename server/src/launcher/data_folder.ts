import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { syncFolder } from "./durable_file.ts";
import { Refusal } from "./refusal.ts";

export type DataFolder = {
  path: string;
  database: string;
  signer: string;
  outbox: string;
  bootstrap: string;
  rootKey: string;
  sealedRootKey: string;
  rootKeyIds: string;
  processes: string;
  publicKeys: string;
  nodeDigest: string;
};

/** The names inside a data folder; nothing is touched. */
export function dataFolderAt(path: string): DataFolder {
  return {
    path,
    database: join(path, "database"),
    signer: join(path, "signer"),
    outbox: join(path, "outbox"),
    bootstrap: join(path, "bootstrap.json"),
    rootKey: join(path, "root.key"),
    sealedRootKey: join(path, "root.key.sealed"),
    rootKeyIds: join(path, "root.key.ids"),
    processes: join(path, "processes.json"),
    publicKeys: join(path, "public_keys.json"),
    nodeDigest: join(path, "node_digest.json"),
  };
}

/**
 * Makes the data folder. Others may pass through it (the gateway and the signer reach their own folders under their own user ids)
 * but not list it, and nobody else may write in it: whoever could would swap the root key or the lock.
 */
export function createDataFolder(path: string): void {
  try {
    if (makeFolders(path)) chmodSync(path, 0o711);
  } catch (cause) {
    throw new Refusal(`cannot create the data folder ${path}: ${reasonOf(cause)}`);
  }
  if ((statSync(path).mode & 0o022) !== 0) {
    throw new Refusal(`other users may write in ${path}: run chmod go-w on it, or set KEYSTEAD_DATA to another folder`);
  }
  if (isEmpty(path)) hideFromGit(path);
}

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch (error) {
    if (codeOf(error) !== "EACCES") throw explainDisk(error, path);
    const owner = statSync(path).uid;
    throw new Refusal(`the data folder ${path} is user ${owner}'s, and this user cannot read it: start as that user`);
  }
}

/** A data folder may lie in a clone under any name, and `git add .` must not take the root key along. Only a new folder is ours to hide. */
function hideFromGit(path: string): void {
  try {
    writeFileSync(join(path, ".gitignore"), "*\n");
  } catch (error) {
    throw explainDisk(error, path);
  }
}

/** Whether it was not there. Node's own way of making the folders above, too, says "no such file" for whatever stands in the way. */
function makeFolders(path: string): boolean {
  if (existsSync(path)) return false;
  makeFolders(dirname(path));
  mkdirSync(path);
  return true;
}

/** What an operator does about a disk that takes nothing. */
const diskAdvice: Readonly<Record<string, string>> = {
  ENOSPC: "its disk is full; make room and start again",
  EDQUOT: "its disk quota is used up; make room and start again",
  EROFS: "its file system is read-only; make it writable and start again",
  EIO: "its disk fails; look into the system's log",
};

/** An error of the disk in words for the operator; any other error as it is. */
export function explainDisk(error: unknown, dataFolder: string): unknown {
  const advice = diskAdvice[codeOf(error) ?? ""];
  if (advice === undefined) return error;
  return new Refusal(`the data folder ${dataFolder} cannot be written: ${advice} (${reasonOf(error)})`);
}

/** The processes' own folders. An umask may have taken bits away at creation, hence the second step. */
export function createProcessFolders(
  data: DataFolder,
  folders: readonly { path: string; refusesLinks: boolean }[],
): void {
  for (const { path } of folders) refuseOtherThanFolder(path);
  for (const { path, refusesLinks } of folders) if (refusesLinks) refuseLinks(path);
  for (const { path } of folders) {
    if (mkdirSync(path, { recursive: true })) chmodSync(path, 0o700);
  }
  // What is synced inside them is lost all the same if a power cut takes the folders themselves.
  syncFolder(data.path);
}

/** A link would lead permissions and changes of owner out of the data folder. */
function refuseOtherThanFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isDirectory()) return;
  const what = found.isSymbolicLink() ? "a link" : "no folder";
  throw new Refusal(`${path} is ${what}; it must be a folder of its own (another disk can be mounted there)`);
}

/** The process cannot make a link itself, so somebody else has put it there. */
function refuseLinks(folder: string): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })) return;
  const link = readdirSync(folder, { withFileTypes: true }).find((entry) => entry.isSymbolicLink());
  if (!link) return;
  const owner = basename(folder);
  throw new Refusal(`${join(folder, link.name)} is a link; the ${owner}'s folder must hold its own files only`);
}

/** Whether an earlier start got as far as giving the root key to a signer. */
export function holdsData(data: DataFolder): boolean {
  return [data.database, data.signer].some((folder) => {
    try {
      return readdirSync(folder).length > 0;
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return false;
      throw cause;
    }
  });
}

/** Work on data must not begin by making some. A folder that has lost only its `bootstrap.json` is told so further on. */
export function refuseWithoutData(data: DataFolder): void {
  if (existsSync(data.bootstrap) || holdsData(data)) return;
  throw new Refusal(`there is no Keystead data in ${data.path} (no bootstrap.json); set KEYSTEAD_DATA`);
}

/** Code folders are readable to the processes; data below one would be too. */
export function refuseInside(data: DataFolder, codeFolders: readonly string[]): void {
  const around = codeFolders.find((folder) => `${data.path}${sep}`.startsWith(`${folder}${sep}`));
  if (around) throw new Refusal(`the data folder ${data.path} must not lie inside the code folder ${around}`, 2);
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

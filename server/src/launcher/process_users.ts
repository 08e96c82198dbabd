import { spawn } from "node:child_process";
import { lchownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Code, Program } from "./code.ts";
import type { Config } from "./config.ts";
import type { DataFolder } from "./data_folder.ts";
import type { ProcessName, ProcessTable } from "./processes.ts";
import { Refusal } from "./refusal.ts";

export type ProcessUser = { uid: number; gid: number };
/** A process without a user here runs as the launcher's own. `line` says to the operator which it is. */
export type Users = { of: Readonly<Partial<Record<ProcessName, ProcessUser>>>; line: string };

type Share = { name: ProcessName; user: ProcessUser; program: Program; folder: string; setting: string };

/** What the choice of users depends on. */
export type Separation = {
  table: ProcessTable;
  names: readonly ProcessName[];
  userIds: Config["userIds"];
  code: Code;
  data: DataFolder;
};

/**
 * Gives each process its own user id if the launcher may do so and all of them can then read their code and use their folder.
 * Under one user id a process can read another's memory, so the line at start says which of the two it is. There is no way back to one:
 * a process under its own user id could bring it about, and the next start would run its code as root.
 */
export async function chooseUsers({ table, names, userIds, code, data }: Separation): Promise<Users> {
  if (process.getuid?.() !== 0) return oneUser("it was not started as root");
  const shares = names.map((name): Share => {
    const user = { uid: userIds[name], gid: userIds[name] };
    const { folder, userId } = table[name];
    return { name, user, program: code[name], folder: data[folder], setting: userId.setting };
  });
  for (const share of shares) refuseForeignOwner(share);
  const isSeparated = shares.some(({ folder }) => ownerOf(folder) !== launcher.uid);
  const early = await firstProblem(shares, code.root);
  if (early && isSeparated) throw noWayBack(early);
  if (early) return oneUser(early);
  const given = shares.filter(({ user, folder }) => ownerOf(folder) !== user.uid);
  for (const { user, folder } of given) give(folder, user);
  const late = await firstProblem(given, code.root);
  if (late && isSeparated) throw noWayBack(late);
  if (late) {
    for (const { folder } of given) give(folder, launcher);
    return oneUser(late);
  }
  const ids = shares.map(({ name, user }) => `${name} ${user.uid}`).join(", ");
  const of = Object.fromEntries(shares.map(({ name, user }) => [name, user]));
  return { of, line: `processes are separated by user id (${ids})` };
}

const launcher: ProcessUser = { uid: 0, gid: 0 };

function ownerOf(folder: string): number {
  return lstatSync(folder).uid;
}

/** Whoever owns a folder can change it while root walks through it, so root gives away only what is its own. */
function refuseForeignOwner({ user, folder, setting }: Share): void {
  const owner = ownerOf(folder);
  if (owner === user.uid || owner === launcher.uid) return;
  throw new Refusal(
    `${folder} belongs to user ${owner}, not to ${user.uid} (${setting}): set that, or run chown -R ${user.uid}:${user.gid} on it`,
  );
}

function noWayBack(problem: string): Refusal {
  return new Refusal(
    `${problem}, but an earlier start separated the processes by user id, and they must not run as root now: ` +
      "make it usable for that user again (chmod u+rwx on its folder; others must be able to read the code and pass the folders above)",
  );
}

function oneUser(why: string): Users {
  const protection = "protects against database writers and gateway bugs, not against code execution in the gateway";
  return { of: {}, line: `one user id: ${protection} (${why})` };
}

/**
 * Changes the owner of a folder with all it holds, the folder last so that an interrupted change is repeated. Links are changed
 * themselves and never followed; a file with a second name would give that one away too.
 */
function give(folder: string, user: ProcessUser): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      give(path, user);
      continue;
    }
    if (entry.isFile() && lstatSync(path).nlink > 1) {
      throw new Refusal(`${path} has a second name elsewhere; remove it`);
    }
    lchownSync(path, user.uid, user.gid);
  }
  lchownSync(folder, user.uid, user.gid);
}

async function firstProblem(shares: readonly Share[], cwd: string): Promise<string | undefined> {
  const problems = await Promise.all(shares.map((share) => probe(share, cwd)));
  return problems.find((found) => found !== undefined);
}

/** A busy machine takes its time to start a process. */
const probeMs = 60_000;

/** Asks as that user for what the process will need. The kernel's is the only answer that covers modes, mounts and the folders above. */
function probe({ user, program, folder }: Share, cwd: string): Promise<string | undefined> {
  const args = ["-e", probeScript, JSON.stringify([program.entry, ...program.readable]), folder];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      ...user,
      cwd,
      env: {},
      stdio: ["ignore", "pipe", "ignore"],
      timeout: probeMs,
    });
    const said: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
    child.on("error", () => resolve(`user ${user.uid} cannot run ${process.execPath}`));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(undefined);
      // No answer is no reason to go on with one user id for all.
      else if (signal !== null)
        reject(new Refusal(`no answer within ${probeMs / 1000} s as user ${user.uid}: try again`));
      else resolve(`user ${user.uid} cannot use ${Buffer.concat(said).toString().trim() || process.execPath}`);
    });
  });
}

// Nothing is written: the process could have put anything in the way.
// Packages are looked into two levels deep: modes differ by checkout, not by file.
const probeScript = `
const fs = require("node:fs");
const [, readable, folder] = process.argv;
let at = "";
const look = (path, depth) => {
  at = path;
  const isFolder = fs.statSync(path).isDirectory();
  fs.accessSync(path, isFolder ? 5 : 4);
  if (!isFolder || depth === 0) return;
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) look(path + "/" + entry.name, depth - 1);
  }
};
try {
  for (const path of JSON.parse(readable)) look(path, 2);
  at = folder;
  // Until the folder is this user's, only the way to it can be tried.
  fs.accessSync(folder, fs.statSync(folder).uid === process.getuid() ? 7 : 0);
} catch (error) {
  process.stdout.write(at + (error.code === "EROFS" ? " (its file system is read-only)" : ""));
  process.exit(1);
}
`;

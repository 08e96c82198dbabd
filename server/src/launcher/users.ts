import { spawn } from "node:child_process";
import { chownSync, lchownSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Code, Program } from "./code.ts";
import type { Config } from "./config.ts";
import type { DataFolder } from "./data_folder.ts";
import { Refusal } from "./refusal.ts";

export type User = { uid: number; gid: number };
/** No user means: the launcher's own. */
export type Users = { gateway: User | undefined; signer: User | undefined; line: string };

/**
 * Gives each process its own user id if the launcher may do so and both can then read their code and use their folder.
 * Under one user id a process can read another's memory, so the line at start says which of the two it is.
 */
export async function chooseUsers(config: Config, code: Code, data: DataFolder): Promise<Users> {
  if (process.getuid?.() !== 0) return oneUser("it was not started as root");
  const gateway = { uid: config.gatewayUid, gid: config.gatewayUid };
  const signer = { uid: config.signerUid, gid: config.signerUid };
  own(data.database, gateway);
  own(data.signer, signer);
  const problems = await Promise.all([
    probe(gateway, code.gateway, code.root, data.database),
    probe(signer, code.signer, code.root, data.signer),
  ]);
  const problem = problems.find((found) => found !== undefined);
  if (problem === undefined) {
    return {
      gateway,
      signer,
      line: `processes are separated by user id (gateway ${gateway.uid}, signer ${signer.uid})`,
    };
  }
  const launcher = { uid: 0, gid: 0 };
  own(data.database, launcher);
  own(data.signer, launcher);
  return oneUser(problem);
}

function oneUser(why: string): Users {
  const protection = "protects against database writers and gateway bugs, not against code execution in the gateway";
  return { gateway: undefined, signer: undefined, line: `one user id: ${protection} (${why})` };
}

/**
 * Changes the owner of a folder with all it holds, the folder last so that an interrupted change is repeated, and not at all when the
 * owner is right already: the process can put links into its own folder, and following one would give away the file it names.
 */
function own(folder: string, user: User): void {
  if (statSync(folder).uid === user.uid) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    const entry = lstatSync(path);
    if (entry.isFile() && entry.nlink > 1) throw new Refusal(`${path} has a second name elsewhere; remove it`);
    lchownSync(path, user.uid, user.gid);
  }
  chownSync(folder, user.uid, user.gid);
}

/** Tries as that user what the process will need. Asking the kernel is the only answer that covers modes, mounts and the folders above. */
function probe(user: User, program: Program, cwd: string, folder: string): Promise<string | undefined> {
  const args = ["-e", probeScript, JSON.stringify([program.entry, ...program.readable]), folder];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      ...user,
      cwd,
      env: {},
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 10_000,
    });
    const said: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
    child.on("error", () => resolve(`user ${user.uid} cannot run ${process.execPath}`));
    child.on("close", (code) => {
      if (code === 0) resolve(undefined);
      else resolve(`user ${user.uid} cannot use ${Buffer.concat(said).toString().trim() || process.execPath}`);
    });
  });
}

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
  const file = folder + "/probe";
  fs.writeFileSync(file, "");
  fs.rmSync(file);
} catch {
  process.stdout.write(at);
  process.exit(1);
}
`;

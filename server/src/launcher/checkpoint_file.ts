/** The file that the gateway appends checkpoints to: the one path outside its folder that it may write. */
import { closeSync, constants, fchownSync, fstatSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { reasonOf } from "./data_folder.ts";
import type { ProcessUser } from "./process_users.ts";
import { Refusal } from "./refusal.ts";

/**
 * Makes sure that the file is there and that the gateway may append to it. `closed` are folders where it must not lie: appending to code, or to another
 * process's files, is not for the gateway. Returns its real path, which permissions are granted to.
 */
export function prepareCheckpointFile(path: string, user: ProcessUser | undefined, closed: readonly string[]): string {
  try {
    const real = join(realpathSync(dirname(path)), basename(path));
    const around = closed.find((folder) => `${real}${sep}`.startsWith(`${folder}${sep}`));
    if (around !== undefined) {
      throw new Refusal(`KEYSTEAD_CHECKPOINT_FILE must not lie in ${around}: \`${path}\``, 2);
    }
    createFor(real, user);
    return real;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`KEYSTEAD_CHECKPOINT_FILE cannot be opened: ${reasonOf(error)}`, 2);
  }
}

/** A link would lead the permission, and the change of owner, elsewhere. Without waiting: a pipe would wait for its reader. */
function createFor(path: string, user: ProcessUser | undefined): void {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY, 0o644);
  try {
    const { uid, nlink, isRegular } = describe(file);
    if (!isRegular || nlink > 1) {
      throw new Refusal(`KEYSTEAD_CHECKPOINT_FILE must be a file of its own: \`${path}\``, 2);
    }
    if (user === undefined || uid === user.uid) return;
    // Root gives away only what is its own.
    if (uid !== 0) throw new Refusal(`${path} belongs to user ${uid}: run chown ${user.uid} on it`, 2);
    fchownSync(file, user.uid, user.gid);
  } finally {
    closeSync(file);
  }
}

function describe(file: number): { uid: number; nlink: number; isRegular: boolean } {
  const stats = fstatSync(file);
  return { uid: stats.uid, nlink: stats.nlink, isRegular: stats.isFile() };
}

/** What keeps a database file from being opened, in words for the operator: what, where, and what to do about it. */
import { Fault } from "@keystead/core/fault.ts";

const makeRoom = "make room on its disk and start again";
const makeWritable = "make its file system writable and start again";
const lookAtDisk = "see whether its disk is full, read-only or failing, and start again";
const restore = "the file is damaged, or not one of Keystead's; restore the newest backup";

/** By the primary result codes of SQLite and the names of system errors. */
const advice: Readonly<Record<string, string>> = {
  8: makeWritable,
  10: lookAtDisk,
  11: restore,
  13: makeRoom,
  14: lookAtDisk,
  26: restore,
  EDQUOT: makeRoom,
  EIO: lookAtDisk,
  ENOSPC: makeRoom,
  EROFS: makeWritable,
};

export function openFault(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || error instanceof Fault) return error;
  const { code, errcode } = error as { code?: string; errcode?: number };
  const found = advice[errcode === undefined ? (code ?? "") : errcode & 0xff];
  if (found === undefined) return error;
  const message = `the database in \`${folder}\` cannot be opened (${error.message}): ${found}`;
  return new Fault("failed_precondition", message, { cause: error });
}

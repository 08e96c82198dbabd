/** What a witness keeps: its key, and of every log the checkpoint that it cosigned last. */
import { hash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Checkpoint, parseCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { parseNote } from "@keystead/core/tlog/note.ts";
import { createFile, replaceFile, syncFolder } from "../launcher/durable_file.ts";
import { type Lock, lockData } from "../launcher/lock.ts";
import { Refusal } from "../launcher/refusal.ts";
import { readSecretFile } from "../launcher/secret_file.ts";

export type WitnessFolder = {
  /** The private half of the witness's key. */
  seed: Uint8Array;
  /** The checkpoint of this log that was cosigned last; undefined if none was. */
  find(origin: string): Checkpoint | undefined;
  /** Keeps a signed checkpoint in place of the one before; on disk when it returns. */
  keep(checkpoint: Checkpoint, note: string): void;
  close(): void;
};

/** Opens the folder for this process alone: two witnesses with one key could cosign two histories. */
export function openWitnessFolder(path: string): WitnessFolder {
  prepare(path);
  const lock = lockFor(path);
  const seed = openKey(join(path, "witness.key"));
  const known = new Map<string, Checkpoint>();
  for (const name of readdirSync(path).filter((each) => each.endsWith(ending))) {
    const checkpoint = read(join(path, name));
    known.set(checkpoint.origin, checkpoint);
  }
  return {
    seed,
    find: (origin) => known.get(origin),
    keep(checkpoint, note) {
      replaceFile(join(path, fileName(checkpoint.origin)), Buffer.from(note, "utf8"));
      known.set(checkpoint.origin, checkpoint);
    },
    // Whoever drops the lock's last reference drops the lock.
    close: () => lock.release(),
  };
}

function lockFor(path: string): Lock {
  try {
    return lockData(path, true);
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(`another witness is running on ${path}`);
    throw error;
  }
}

const ending = ".checkpoint";

/** An origin may have characters that no file name can have. */
function fileName(origin: string): string {
  return `${hash("sha256", origin, "hex").slice(0, 32)}${ending}`;
}

/** Who cannot read what it cosigned last must not start from nothing: that would cosign a second history. */
function read(path: string): Checkpoint {
  try {
    const checkpoint = parseCheckpoint(parseNote(readFileSync(path, "utf8")).text);
    if (path.endsWith(fileName(checkpoint.origin))) return checkpoint;
  } catch (error) {
    throw new Refusal(`${path} is not the checkpoint that was written there (${error}); restore it`);
  }
  throw new Refusal(`${path} is the checkpoint of another log; restore it`);
}

function prepare(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  // A folder in a clone must not end up in a commit with the key in it.
  if (readdirSync(path).length === 0) writeFileSync(join(path, ".gitignore"), "*\n");
  if (made !== undefined) syncFolder(dirname(made));
}

function openKey(path: string): Uint8Array {
  if (!existsSync(path)) createFile(path, randomBytes(32));
  return readSecretFile(path, "witness key", 32, 32);
}

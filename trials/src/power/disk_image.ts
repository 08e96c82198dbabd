/**
 * What a disk may hold after a power cut. A sector is on the disk as it was at the last sync of its file, or as at any moment
 * since; so is a file's length; each sector and length for itself. A name that was given, moved or taken away counts for sure
 * once its folder was synced; before that it may or may not. Only a file's first name comes with the first sync of the file,
 * as on ext4, XFS and Btrfs.
 */
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Random } from "../../../core/test/seeded_random.ts";
import type { Change } from "./journal.ts";

export const sectorLength = 512;

/** Shared memory of SQLite: written through a mapping, worth nothing after the processes that shared it, and made anew. */
const isScratch = (name: string): boolean => name.endsWith("-shm");

/** What something was from a moment on; moments are counted by the changes of its file. */
type Version<T> = { since: number; value: T };

type File = {
  /** As it would be without a power cut; behind `length`, zeros. */
  bytes: Buffer;
  length: number;
  /** Of each sector that differs from the disk, all that it has been since, the disk's own first. */
  sectors: Map<number, Version<Buffer>[]>;
  /** All lengths since the last sync, the disk's own first. */
  lengths: Version<number>[];
  changes: number;
  wasSynced: boolean;
};

type Entry = File | "folder";

type Move = { name: string; entry: Entry | undefined; taken?: string; isFirstName: boolean };

type Folder = { onDisk: Map<string, Entry>; moves: Move[] };

export type DiskImage = {
  folders: Map<string, Folder>;
  files: Map<number, File>;
  /** Paths are relative to this one. */
  root: string;
};

/** What is there before the first change, all of it on the disk; perhaps nothing yet. */
export function readImage(root: string): DiskImage {
  const image: DiskImage = { folders: new Map(), files: new Map(), root };
  const read = (path: string) => {
    const folder: Folder = { onDisk: new Map(), moves: [] };
    image.folders.set(path, folder);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) {
        folder.onDisk.set(entry.name, "folder");
        read(inside);
      } else if (!isScratch(entry.name)) {
        const file = newFile(readFileSync(inside));
        image.files.set(lstatSync(inside).ino, file);
        folder.onDisk.set(entry.name, file);
      }
    }
  };
  if (!existsSync(root)) return emptyImage(root);
  read(root);
  return image;
}

export function emptyImage(root: string): DiskImage {
  return { folders: new Map([[root, { onDisk: new Map(), moves: [] }]]), files: new Map(), root };
}

function newFile(bytes: Buffer): File {
  const { length } = bytes;
  const lengths = [{ since: 0, value: length }];
  return { bytes, length, sectors: new Map(), lengths, changes: 0, wasSynced: false };
}

export type Faith = {
  /** A disk that says "done" and is not: what such a disk loses must be found missing, or the test looks at nothing. */
  liesAboutSyncs?: boolean;
};

export function apply(image: DiskImage, change: Change, { liesAboutSyncs = false }: Faith = {}): void {
  const file = "inode" in change ? image.files.get(change.inode) : undefined;
  if (change.kind === "create") {
    if (isScratch(change.path)) return;
    const made = newFile(Buffer.alloc(0));
    image.files.set(change.inode, made);
    name(image, change.path, made, true);
  } else if (change.kind === "folder") {
    image.folders.set(change.path, { onDisk: new Map(), moves: [] });
    // The top folder is where the test begins; whether its own name lasts is not asked.
    if (change.path !== image.root) name(image, change.path, "folder", false);
  } else if (change.kind === "unlink") name(image, change.path, undefined, false);
  else if (change.kind === "syncFolder") {
    const folder = image.folders.get(change.path);
    if (folder !== undefined && !liesAboutSyncs) settleFolder(folder, folder.moves);
  } else if (file !== undefined && "inode" in change) applyToFile(image, file, change, liesAboutSyncs);
}

type FileChange = Exclude<Extract<Change, { inode: number }>, { kind: "create" }>;

function applyToFile(image: DiskImage, file: File, change: FileChange, liesAboutSyncs: boolean): void {
  if (change.kind === "link") name(image, change.path, file, false);
  else if (change.kind === "resize") resize(file, change.size);
  else if (change.kind === "sync" && !liesAboutSyncs) settleAll(file);
  else if (change.kind === "write") {
    write(file, change.offset, change.bytes);
    if (change.through && !liesAboutSyncs) settle(file, change.offset, change.bytes.length);
  } else if (change.kind === "rename") {
    const { moves } = folderOf(image, change.to);
    moves.push({ name: basename(change.to), entry: file, taken: basename(change.path), isFirstName: false });
  }
}

function folderOf(image: DiskImage, path: string): Folder {
  const folder = image.folders.get(dirname(path));
  if (folder === undefined) throw new Error(`a change in a folder that nobody made: ${path}`);
  return folder;
}

function name(image: DiskImage, path: string, entry: Entry | undefined, isFirstName: boolean): void {
  folderOf(image, path).moves.push({ name: basename(path), entry, isFirstName });
}

function settleFolder(folder: Folder, moves: readonly Move[]): void {
  for (const { name: at, entry, taken } of moves) {
    if (entry === undefined) folder.onDisk.delete(at);
    else folder.onDisk.set(at, entry);
    if (taken !== undefined) folder.onDisk.delete(taken);
  }
  folder.moves = [];
}

function sectorAt({ bytes }: File, index: number): Buffer {
  const sector = Buffer.alloc(sectorLength);
  sector.set(bytes.subarray(index * sectorLength, (index + 1) * sectorLength));
  return sector;
}

function sectorsOf(from: number, to: number): number[] {
  const first = Math.floor(from / sectorLength);
  return Array.from({ length: Math.ceil(to / sectorLength) - first }, (_, index) => first + index);
}

/** Keeps what the touched sectors and the length were, and notes what they are now. */
function change(file: File, from: number, to: number, work: () => void): void {
  const touched = sectorsOf(from, to);
  for (const index of touched) {
    if (!file.sectors.has(index)) file.sectors.set(index, [{ since: 0, value: sectorAt(file, index) }]);
  }
  work();
  const since = ++file.changes;
  for (const index of touched) file.sectors.get(index)?.push({ since, value: sectorAt(file, index) });
  if (file.lengths.at(-1)?.value !== file.length) file.lengths.push({ since, value: file.length });
}

function write(file: File, offset: number, bytes: Uint8Array): void {
  const end = offset + bytes.length;
  change(file, offset, end, () => {
    if (end > file.bytes.length) file.bytes = padded(file.bytes, Math.max(end, 2 * file.bytes.length));
    file.bytes.set(bytes, offset);
    file.length = Math.max(file.length, end);
  });
}

function padded(bytes: Buffer, length: number): Buffer {
  const longer = Buffer.alloc(length);
  bytes.copy(longer);
  return longer;
}

function resize(file: File, size: number): void {
  change(file, Math.min(size, file.length), file.length, () => {
    if (size > file.bytes.length) file.bytes = padded(file.bytes, size);
    file.bytes.fill(0, size);
    file.length = size;
  });
}

function settleAll(file: File): void {
  file.sectors.clear();
  settleLength(file);
}

/** A write that is waited for takes its own sectors to the disk and the length that they need. */
function settle(file: File, offset: number, length: number): void {
  for (const index of sectorsOf(offset, offset + length)) file.sectors.delete(index);
  settleLength(file);
}

/** What was cut off before that is gone for good: where the file grows again, it is zero until it is written. */
function settleLength(file: File): void {
  for (const index of file.sectors.keys()) if (index * sectorLength >= file.length) file.sectors.delete(index);
  file.lengths = [{ since: 0, value: file.length }];
  file.wasSynced = true;
}

/** How the disk had come along with what nobody waited for. */
const moods = ["nothing", "everything", "in order", "any order", "any order"] as const;
type Mood = (typeof moods)[number];

export type Kept = { files: Map<string, Buffer>; folders: string[]; moods: Record<string, Mood> };

/** One of the many things that the disk may hold, by the random numbers given. Paths are relative to the top folder. */
export function cutPower(image: DiskImage, random: Random): Kept {
  const kept: Kept = { files: new Map(), folders: [], moods: {} };
  const walk = (path: string, inside: string) => {
    const folder = image.folders.get(path);
    if (folder === undefined) return;
    for (const [entryName, entry] of namesLeft(folder, random)) {
      const relative = join(inside, entryName);
      if (entry === "folder") {
        kept.folders.push(relative);
        walk(join(path, entryName), relative);
        continue;
      }
      const mood = random.pick(moods);
      if (entry.sectors.size > 0) kept.moods[relative] = mood;
      kept.files.set(relative, bytesLeft(entry, mood, random));
    }
  };
  walk(image.root, "");
  return kept;
}

/** All of it, as if the power had stayed. */
export function keepAll(image: DiskImage): Kept {
  const everything = { next: () => 0, below: () => 0, pick: <T>(choices: readonly T[]) => choices[1] as T };
  return cutPower(image, everything);
}

/** Nothing of what was not waited for. */
export function keepNothing(image: DiskImage): Kept {
  const nothing = { next: () => 0, below: () => 0, pick: <T>([first]: readonly T[]) => first as T };
  return cutPower(image, nothing);
}

function namesLeft(folder: Folder, random: Random): Map<string, Entry> {
  const { onDisk, moves } = folder;
  const mood = random.pick(moods);
  const inOrder = random.below(moves.length + 1);
  const isKept = (move: Move, index: number): boolean => {
    const isSafe = move.isFirstName && move.entry !== "folder" && move.entry?.wasSynced === true;
    if (isSafe || mood === "everything") return true;
    if (mood === "nothing") return false;
    return mood === "in order" ? index < inOrder : random.next() < 0.5;
  };
  const left = { onDisk: new Map(onDisk), moves: [] };
  settleFolder(left, moves.filter(isKept));
  return left.onDisk;
}

function bytesLeft(file: File, mood: Mood, random: Random): Buffer {
  const moment = random.below(file.changes + 1);
  const pick = <T>(versions: readonly Version<T>[]): T => {
    const [onDisk, newest] = [versions[0], versions.at(-1)] as [Version<T>, Version<T>];
    if (mood === "nothing") return onDisk.value;
    if (mood === "everything") return newest.value;
    if (mood === "in order") return (versions.findLast(({ since }) => since <= moment) ?? onDisk).value;
    return random.pick(versions).value;
  };
  const length = pick(file.lengths);
  const bytes = padded(file.bytes, Math.max(file.bytes.length, length) + sectorLength);
  for (const [index, versions] of file.sectors) pick(versions).copy(bytes, index * sectorLength);
  return bytes.subarray(0, length);
}

/** Writes it down as a data folder, with the owners that the other one's folders have. */
export function writeKept({ files, folders }: Kept, model: string, target: string): void {
  mkdirSync(target, { recursive: true, mode: 0o711 });
  for (const folder of folders) {
    mkdirSync(join(target, folder), { mode: 0o700 });
    own(folder, join(target, folder));
  }
  for (const [path, bytes] of files) {
    writeFileSync(join(target, path), bytes, { mode: 0o600 });
    own(dirname(path), join(target, path));
  }

  function own(folder: string, path: string): void {
    const { uid, gid } = lstatSync(join(model, folder));
    chownSync(path, uid, gid);
  }
}

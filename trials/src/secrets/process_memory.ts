/** Another process's memory, as Linux shows it to whoever may trace it: root, and mostly the same user. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

/** Why it cannot be read here; undefined when it can. */
export function memoryTrouble(pid: number): string | undefined {
  if (process.platform !== "linux") return "only Linux shows the memory of another process";
  try {
    closeSync(openSync(`/proc/${pid}/mem`, "r"));
    readFileSync(`/proc/${pid}/maps`);
    return undefined;
  } catch (error) {
    return `the memory of another process is not for this user: ${(error as NodeJS.ErrnoException).code}; run as root`;
  }
}

/**
 * Everything it can read or write itself, copied as it is at this moment. Left out are the parts of files that it has mapped without
 * being able to write them (programs and libraries, the same for everybody) and two pages of the kernel's.
 */
export function readMemory(pid: number): Buffer[] {
  const file = openSync(`/proc/${pid}/mem`, "r");
  try {
    return readFileSync(`/proc/${pid}/maps`, "utf8")
      .split("\n")
      .flatMap((line) => {
        const match = /^([0-9a-f]+)-([0-9a-f]+) (r)(.)\S\S \S+ \S+ (\d+) *(.*)$/.exec(line);
        if (match === null) return [];
        const [, from = "", to = "", , writable, inode, name = ""] = match;
        if (/^\[(vvar|vvar_vclock|vsyscall)\]$/.test(name) || (inode !== "0" && writable !== "w")) return [];
        return readRegion(file, Number.parseInt(from, 16), Number.parseInt(to, 16));
      });
  } finally {
    closeSync(file);
  }
}

const pieceLength = 2 ** 24;
const pageLength = 2 ** 12;
const emptyPage = Buffer.alloc(pageLength);

/**
 * The pages of a region that are not empty, those side by side in one piece. Most of what a process has reserved was never touched.
 * A region may be gone again, or be held for a device: what cannot be read ends it.
 */
function readRegion(file: number, from: number, to: number): Buffer[] {
  const runs: Buffer[] = [];
  let run: Buffer[] = [];
  const endRun = () => {
    if (run.length > 0) runs.push(Buffer.concat(run));
    run = [];
  };
  try {
    for (let at = from; at < to; ) {
      const piece = Buffer.alloc(Math.min(pieceLength, to - at));
      const count = readSync(file, piece, 0, piece.length, at);
      if (count === 0) break;
      at += count;
      for (let page = 0; page < count; page += pageLength) {
        const bytes = piece.subarray(page, Math.min(count, page + pageLength));
        if (bytes.equals(emptyPage)) endRun();
        else run.push(bytes);
      }
    }
  } catch (error) {
    if (!["EIO", "EFAULT", "ENOMEM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  endRun();
  return runs;
}

/** What the test disk wrote down: every change below the data folder, in the order in which they were made (see disk.c). */

export type Change = {
  /** Where its record ends in the journal: a cut at this byte still has it. */
  end: number;
} & (
  | { kind: "create" | "link"; inode: number; path: string }
  /** `through`: it was on the disk before the call came back. */
  | { kind: "write"; inode: number; offset: number; bytes: Uint8Array; through: boolean }
  | { kind: "resize"; inode: number; size: number }
  | { kind: "sync"; inode: number }
  | { kind: "syncFolder" | "unlink" | "folder"; path: string }
  | { kind: "rename"; inode: number; path: string; to: string }
);

const headLength = 32;

/** The changes of a journal. A record that a kill cut short ends it. */
export function parseJournal(journal: Buffer): Change[] {
  const changes: Change[] = [];
  for (let at = 0; at + headLength <= journal.length; ) {
    const end = at + 4 + journal.readUInt32LE(at);
    const change = end > journal.length ? undefined : readChange(journal.subarray(at, end));
    if (change === undefined) break;
    changes.push({ end, ...change } as Change);
    at = end;
  }
  return changes;
}

type Bare = Change extends infer Each ? (Each extends Change ? Omit<Each, "end"> : never) : never;

function readChange(record: Buffer): Bare | undefined {
  const inode = Number(record.readBigUInt64LE(8));
  const offset = Number(record.readBigUInt64LE(16));
  const pathEnd = headLength + record.readUInt32LE(24);
  const secondEnd = pathEnd + record.readUInt32LE(28);
  const path = record.toString("utf8", headLength, pathEnd);
  const to = record.toString("utf8", pathEnd, secondEnd);
  const bytes = Uint8Array.from(record.subarray(secondEnd));
  const kinds: Record<number, Bare> = {
    1: { kind: "create", inode, path },
    2: { kind: "write", inode, offset, bytes, through: false },
    3: { kind: "resize", inode, size: offset },
    4: { kind: "sync", inode },
    5: { kind: "syncFolder", path },
    6: { kind: "link", inode, path },
    7: { kind: "unlink", path },
    8: { kind: "rename", inode, path, to },
    9: { kind: "folder", path },
    10: { kind: "write", inode, offset, bytes, through: true },
  };
  return kinds[record.readUInt32LE(4)];
}

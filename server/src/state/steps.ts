/**
 * The way of one activity through gateway and signer, step by step and in order. The crash matrix stops a process exactly at a
 * step and does it harm there. Nothing that ships listens, no setting makes it listen, and unheard a step is one comparison.
 */
export const steps = [
  /** Body and stamp are read. */
  { name: "arrived", in: "gateway" },
  /** State and records are loaded; the signer has not been asked yet. */
  { name: "asking", in: "gateway" },
  { name: "received", in: "signer" },
  { name: "authenticated", in: "signer" },
  /** All rows are made, and the next request may build on them. The gateway has none of them yet. */
  { name: "decided", in: "signer" },
  { name: "prepared", in: "gateway" },
  /** A transaction is open; on PostgreSQL its one statement is about to be sent. */
  { name: "begun", in: "gateway" },
  /** Every row is written and nothing is committed. On PostgreSQL that is inside the server, where no code of ours passes. */
  { name: "written", in: "gateway" },
  { name: "committed", in: "gateway" },
  /** The committed rows are found in order; the signer's memory does not know them yet. */
  { name: "checked", in: "signer" },
  /** The memory knows them; nothing is opened yet. */
  { name: "remembered", in: "signer" },
  { name: "opened", in: "signer" },
  { name: "released", in: "gateway" },
  { name: "answering", in: "gateway" },
  /** The answer is with the kernel. */
  { name: "answered", in: "gateway" },
  /** What was released is about to be marked so, with its place in the log, and an opened result to be written to its row. */
  { name: "settling", in: "gateway" },
  { name: "settled", in: "gateway" },
  /** The places are stored; the signer is about to be asked for a checkpoint. */
  { name: "checkpointing", in: "gateway" },
  /** It has signed; nobody else has the note yet. */
  { name: "signed", in: "gateway" },
  { name: "checkpointed", in: "gateway" },
] as const satisfies readonly { name: string; in: "gateway" | "signer" }[];

export type Step = (typeof steps)[number]["name"];

let observer: ((step: Step) => void) | undefined;

export function passed(step: Step): void {
  observer?.(step);
}

/** For programs that only tests start; a test holds that no other file calls it. */
export function observeSteps(observe: (step: Step) => void): void {
  observer = observe;
}

import type { Prepared } from "./messages.ts";

/** What a decision brings besides its leaf, where it brings nothing: each kind of act names what it has. */
export const barePrepared = {
  standing: [],
  birth: undefined,
  next: undefined,
  changes: "[]",
  marks: [],
  codes: [],
  spentCode: undefined,
  records: [],
  made: undefined,
  disclosed: [],
  closed: [],
  proofs: undefined,
  context: undefined,
  outbox: [],
  sealed: undefined,
  evaluations: undefined,
  explanation: undefined,
  activity: undefined,
} as const satisfies Partial<Prepared>;

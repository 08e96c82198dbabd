/** What a request weighs. */
export type Weight = {
  /** In the units of `endpoints/cost.ts`. */
  cost: number;
  /** What is kept of it while it waits. */
  bytes: number;
  /** What goes to the signer along with it, once it is let in. */
  offered?: number;
  /** What the signer will answer, which is kept until it is committed. */
  reply?: number;
};

export type AdmissionLimits = {
  /** Of one organization under way: so many, or so much cost (one may cost more). */
  inFlight: number;
  cost: number;
  /** Of all together. What is done of it within the signer's deadline is not in vain. */
  allInFlight: number;
  allCost: number;
  allBytes: number;
  /** What is expected of the signer, and what it has answered and is not committed yet. */
  allReplies: number;
  /** Of one organization, and of all, that wait. */
  waiting: number;
  waitingBytes: number;
  waitMs: number;
};

/** Replies that are longer have the rest of that room to themselves: neither kind can take all of it. */
const shortReply = 64 * 1024;
export const replyShares = { short: 3 / 8, long: 5 / 8 } as const;

export type ReplySize = keyof typeof replyShares;
/** Bytes of replies, by their sizes. */
export type Replies = Readonly<Record<ReplySize, number>>;

export function replySizeOf(bytes: number): ReplySize {
  return bytes > shortReply ? "long" : "short";
}

/** Not counted: whatever else is under way, there is time for these. */
export const smallCost = 10_000;
/** These leave room for those that cost less. */
export const largeCost = 100_000;

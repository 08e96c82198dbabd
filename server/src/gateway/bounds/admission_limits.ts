/** A request's cost (`endpoints/cost.ts`), and the bytes that are kept while it waits. */
export type Weight = { cost: number; bytes: number };

export type AdmissionLimits = {
  /** Of one organization under way: so many, or so much cost (one may cost more). */
  inFlight: number;
  cost: number;
  /** Of all together. What is done of it within the signer's deadline is not in vain. */
  allInFlight: number;
  allCost: number;
  allBytes: number;
  /** Of one organization, and of all, that wait. */
  waiting: number;
  waitingBytes: number;
  waitMs: number;
};

/** Not counted: whatever else is under way, there is time for these. */
export const smallCost = 10_000;
/** These leave room for those that cost less. */
export const largeCost = 100_000;

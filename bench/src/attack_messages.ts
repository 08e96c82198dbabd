/** What the bench and its honest clients say to each other. */
import type { Account } from "./presign.ts";

export type HonestJob = {
  account: Account;
  /** The address of a wallet account. */
  signWith: string;
  seconds: number;
};

export type HonestResult = {
  /** Milliseconds of every request that was answered. */
  latencies: number[];
  /** What went wrong with the others. */
  failures: string[];
};

export type ToHonest = { kind: "prepare"; job: HonestJob } | { kind: "go" };
export type FromHonest = { kind: "prepared" } | { kind: "done"; result: HonestResult };

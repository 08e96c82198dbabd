/** What the bench and its honest clients say to each other. */
import type { Account } from "./presign.ts";

/** The member whose key attackers know, and somebody in an organization of their own. */
export const honestNames = ["member", "neighbour"] as const;
export type HonestName = (typeof honestNames)[number];

export type HonestClient = {
  account: Account;
  /** The address of a wallet account. */
  signWith: string;
};

export type HonestJob = {
  clients: Record<HonestName, HonestClient>;
  seconds: number;
  /** Some of their requests have large bodies. */
  sendsLarge?: boolean;
};

export type HonestResult = {
  /** Milliseconds of every request that was answered. */
  latencies: number[];
  /** What went wrong with the others. */
  failures: string[];
};

export type HonestResults = Record<HonestName, HonestResult>;

export type ToHonest = { kind: "prepare"; job: HonestJob } | { kind: "go" };
export type FromHonest = { kind: "prepared" } | { kind: "done"; results: HonestResults };

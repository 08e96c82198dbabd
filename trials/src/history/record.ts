/** What the clients write down: every request they sent, when, and what came back, as far as the model can speak about it. */
import type { Credential, Parameters } from "./model.ts";

/** An activity as an answer shows it. */
export type Seen = {
  activityId: string;
  /** Without its prefix. */
  status: string;
  /** `userId SELECTION`: the submission's own, then the others, sorted. */
  votes: readonly string[];
  result: Parameters;
};

export type Answer =
  | { kind: "activity"; activity: Seen }
  | { kind: "view"; view: Parameters }
  | { kind: "refusal"; status: number; code: number; message: string };

/** One request on its way. Without an answer, it may have been executed, may be executed later, or never. Times are of one clock. */
export type Try = { server: number; fromMs: number; toMs: number; answer: Answer | undefined };

export type Operation = {
  /** For whoever reads a violation. */
  name: string;
  organizationId: string;
  kind: "submit" | "query";
  path: string;
  parameters: Parameters;
  /** SHA-256 of the body, in hex. */
  fingerprint: string;
  /** What stamped it, or what it was asked with. */
  credential: Credential;
  /** The same bytes and the same stamp, until an answer came. */
  tries: readonly Try[];
};

/** What the database says was done, in its own order. */
export type Commit = {
  /** The versions before and after; the same for what changed no state. */
  before: number;
  after: number;
  event: string;
  /** The activity, and the bytes that were stamped: another body when it is a vote. */
  fingerprint: string;
  activityId: string;
  stamped: string;
  credential: Credential;
  /** The signer's, when it decided. */
  timeMs: number;
  result: Parameters;
  failure: { code: number; message: string } | undefined;
};

/** The two ends of the pipe between the clients and the test. */
export type Orders = {
  urls: readonly string[];
  clients: number;
  operations: number;
  seed: number;
  /** Where the history is written, one operation a line. */
  file: string;
  organizations: readonly {
    organizationId: string;
    people: readonly { userId: string; publicKey: string; privateKey: string }[];
  }[];
};

export type FromClients =
  | { kind: "progress"; done: number }
  | { kind: "finished"; unanswered: number; lost: number }
  | { kind: "failed"; message: string };

/** What the oracle and the test say to each other: lines of JSON over pipes, nothing else. */
import type { Activity } from "@keystead/sdk";

export type OracleOrders = {
  url: string;
  organizationId: string;
  userId: string;
  apiPublicKey: string;
  apiPrivateKey: string;
  seed: number;
  clients: number;
  /** Requests given up after their answer was lost: they must turn out absent or complete. */
  maxAbandoned: number;
};

/** An answer that settles a body: its activity, or the refusal that every repetition must repeat. */
export type Answer =
  | { kind: "activity"; activity: Activity }
  | { kind: "refusal"; status: number; code: number; message: string; errorCode: string; details: readonly unknown[] };

export type LedgerEntry = { path: string; body: string; answer: Answer };

export type OracleReport = {
  acknowledged: LedgerEntry[];
  /** Bodies sent at least once whose answer never came. */
  abandoned: { path: string; body: string }[];
  /** Repetitions that were compared with the first answer. */
  repeated: number;
  /** Connections that broke before the answer, connections refused, and answers with status 503. */
  cutOff: number;
  refused: number;
  unavailable: number;
  violations: string[];
};

export type ToOracle = { kind: "orders"; orders: OracleOrders } | { kind: "checkpoint" } | { kind: "finish" };

export type FromOracle =
  | { kind: "progress"; acknowledged: number; violations: number }
  | { kind: "checked"; repeated: number }
  | { kind: "report"; report: OracleReport };

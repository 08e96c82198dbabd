import type { AdmissionLimits } from "../bounds/admission_limits.ts";
import { admissionLimits, memoryBounds } from "../bounds/memory_bounds.ts";
import type { BodyLimits } from "./bodies.ts";
import type { ConnectionLimits } from "./connections.ts";

/** Of one request's body, on any route. */
export const maxBodyBytes = 1024 * 1024;

/** Of the HTTP server; 48 KiB of headers have room for the 32 KiB of an attested stamp. */
export const serverLimits = {
  headerBytes: 48 * 1024,
  headersMs: 10_000,
  requestMs: 20_000,
  checkMs: 5_000,
  keepAliveMs: 15_000,
  requestsPerSocket: 1_000,
  headers: 100,
} as const;

/** Of large bodies, which are among all others: of each organization one is worked on, and 16 wait. */
const laneLimits: AdmissionLimits = {
  inFlight: 1,
  cost: Number.POSITIVE_INFINITY,
  allInFlight: 64,
  allCost: Number.POSITIVE_INFINITY,
  allBytes: 16 * maxBodyBytes,
  allReplies: Number.POSITIVE_INFINITY,
  waiting: 16,
  waitingBytes: 16 * maxBodyBytes,
  waitMs: admissionLimits.waitMs,
};

export const connectionLimits: ConnectionLimits = {
  connections: 10_000,
  bodyBytes: maxBodyBytes,
  waiting: 16,
  waitingBytes: 128 * 1024,
  // Clients of ours ask one at a time on a connection: only floods come near this.
  allWaitingBytes: memoryBounds.pipelined,
  largeBytes: 64 * 1024,
  lanes: laneLimits,
  // While it is answered; nothing that is asked takes nearly as long.
  stillMs: 60_000,
  bodiesBytes: memoryBounds.bodies,
  answersBytes: memoryBounds.answers,
};

export const bodyLimits: BodyLimits = { bytes: maxBodyBytes, together: memoryBounds.bodies };

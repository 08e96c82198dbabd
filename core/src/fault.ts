/**
 * The one error that is thrown on purpose across modules. `message` is for the caller, `detail` only for the log,
 * `code` is stable; HTTP statuses for the codes stand in one table in the gateway.
 */

/** The codes are gRPC's, because the published clients read those numbers. */
export const faultCodes = {
  cancelled: 1,
  unknown: 2,
  invalid_argument: 3,
  deadline_exceeded: 4,
  not_found: 5,
  already_exists: 6,
  permission_denied: 7,
  resource_exhausted: 8,
  failed_precondition: 9,
  aborted: 10,
  out_of_range: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export type FaultCode = keyof typeof faultCodes;

export type FaultOptions = {
  /** The published name of this failure, for example `SIGNATURE_INVALID`; clients branch on it. */
  errorCode?: string;
  /** Structured entries for the `details` array of the answer. */
  details?: readonly unknown[];
  /** For the log only. */
  detail?: string;
  cause?: unknown;
};

/** A refusal with a stable code and a sentence for the caller. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly errorCode: string;
  readonly details: readonly unknown[];
  readonly detail: string | undefined;

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Fault";
    this.code = code;
    this.errorCode = options.errorCode ?? "";
    this.details = options.details ?? [];
    this.detail = options.detail;
  }
}

/** Faults as clients see them. The only place that knows HTTP statuses. */
import { type Fault, type FaultCode, faultCodes } from "@keystead/core/fault.ts";

const statuses: Record<FaultCode, number> = {
  cancelled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  unauthenticated: 401,
};

const statusByNumber: ReadonlyMap<number, number> = new Map(
  Object.entries(faultCodes).map(([code, number]) => [number, statuses[code as FaultCode]]),
);

/** What a refused activity keeps, and what any refusal answers. */
export type Failure = { code: number; message: string; errorCode: string; details: readonly unknown[] };

export function toFailure(fault: Fault): Failure {
  return { code: faultCodes[fault.code], message: fault.message, errorCode: fault.errorCode, details: fault.details };
}

export function statusOf(failure: Failure): number {
  return statusByNumber.get(failure.code) ?? 500;
}

/** `details` is always an array; a failure with a published code has an entry that says it, under the published key. */
export function errorBody({ code, message, errorCode, details }: Failure) {
  const named = errorCode === "" ? [] : [errorDetail(errorCode)];
  return { code, message, details: [...details, ...named], errorCode };
}

function errorDetail(errorCode: string) {
  return { "@type": "type.googleapis.com/errors.v1.TurnkeyErrorDetail", turnkeyErrorCode: errorCode };
}

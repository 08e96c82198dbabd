import type { Activity } from "./generated/api.ts";

export type KeysteadErrorFields = {
  status: number;
  code: number;
  errorCode: string;
  message: string;
  details: readonly unknown[];
  activity?: Activity;
};

/** A request that the server refused or could not complete. */
export class KeysteadError extends Error {
  /** The HTTP status of the answer. */
  readonly status: number;
  /** The gRPC status code of the refusal. */
  readonly code: number;
  /** The stable name of the refusal, for example `SIGNATURE_INVALID`; empty when it has none. */
  readonly errorCode: string;
  readonly details: readonly unknown[];
  /** The activity, when the server accepted it and it is not completed: it waits for approvals, failed or was rejected. */
  readonly activity: Activity | undefined;

  constructor({ status, code, errorCode, message, details, activity }: KeysteadErrorFields) {
    super(message);
    this.name = "KeysteadError";
    this.status = status;
    this.code = code;
    this.errorCode = errorCode;
    this.details = details;
    this.activity = activity;
  }
}

const unknownCode = 2;
const failedPrecondition = 9;

/** The error in an answer that is not 200. Something between us and the server may have answered, so nothing is certain. */
export function errorFromAnswer(status: number, statusText: string, text: string): KeysteadError {
  const body = parseObject(text);
  return new KeysteadError({
    status,
    code: typeof body?.code === "number" ? body.code : unknownCode,
    errorCode: typeof body?.errorCode === "string" ? body.errorCode : "",
    message: typeof body?.message === "string" ? body.message : `${status} ${statusText}`.trim(),
    details: Array.isArray(body?.details) ? body.details : [],
  });
}

/** The error of an activity that was accepted and has no result to give. Its `errorCode` is the activity's status. */
export function errorFromActivity(status: number, activity: Activity): KeysteadError {
  return new KeysteadError({
    status,
    code: activity.failure?.code ?? failedPrecondition,
    errorCode: activity.status,
    message: activity.failure?.message ?? `activity ${activity.id} is not completed: ${activity.status}`,
    details: activity.failure?.details ?? [],
    activity,
  });
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

import { KeysteadError } from "@keystead/sdk";

/** One line for the terminal. */
export function describeError(error: unknown): string {
  if (error instanceof KeysteadError) {
    const kind = [`HTTP ${error.status}`, ...(error.errorCode === "" ? [] : [error.errorCode])].join(", ");
    return oneLine(`${error.message} (${kind})`);
  }
  return oneLine(error instanceof Error ? error.message : String(error));
}

/** The innermost reason: `fetch` says only that it failed. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

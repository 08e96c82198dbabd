/** The innermost reason: `fetch` says only that it failed. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}

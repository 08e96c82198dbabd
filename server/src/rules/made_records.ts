/** Records that are made in pieces. */
import type { Work } from "@keystead/core/work.ts";
import type { NewRecord } from "../endpoints/key_access.ts";

/**
 * Runs work that puts each record into `made` as soon as it exists. Refused or dropped halfway, none of their secrets is left; once it
 * is done, they belong to whoever takes the outcome.
 */
export function* wipedUnlessDone<T, R extends NewRecord = NewRecord>(work: (made: R[]) => Work<T>): Work<T> {
  const made: R[] = [];
  let isDone = false;
  try {
    const result = yield* work(made);
    isDone = true;
    return result;
  } finally {
    if (!isDone) for (const { secret } of made) secret.fill(0);
  }
}

/**
 * Questions that only the signer can answer, by its memory or by a secret that nobody else has. Leaves keep the answers: whoever executes
 * the log anew has neither, and decides the same.
 */
import type { VerdictSubject } from "@keystead/core/log/outside_values.ts";

/** What a leaf keeps of an answer, beside whether it was a refusal. */
export type Told = { readonly times: readonly number[]; readonly ids: readonly string[] };

export type Question<T> = {
  readonly subject: VerdictSubject;
  /** Throws a `Fault` to refuse. */
  ask(): T;
  tell?(answer: T): Partial<Told>;
  /** The answer where the log is executed anew. */
  standIn(told: Told): T;
};

export type VerdictAccess = {
  judge<T>(question: Question<T>): T;
  /** For a question whose refusal is `false`. */
  confirm(subject: VerdictSubject, ask: () => boolean): boolean;
};

/** Where nobody keeps the answers. */
export const unkeptVerdicts: VerdictAccess = {
  judge: ({ ask }) => ask(),
  confirm: (_, ask) => ask(),
};

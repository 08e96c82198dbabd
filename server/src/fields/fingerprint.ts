import { Type } from "./schema.ts";

/** Bounded text: one that names nothing is answered like any activity that is not there. */
export const fingerprint = Type.String({
  maxLength: 200,
  description: "`sha256:` and the hash of the request body of an activity.",
});

/** The hash in lower case, or undefined for a text that is no fingerprint. */
export function parseFingerprint(text: string): string | undefined {
  return /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase();
}

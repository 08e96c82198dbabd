/** The names of all limits, for the launcher: it imports nothing of the other processes, and refuses a wrong name itself. */
import { withLimits } from "../../server/src/endpoints/limits.ts";

export function limitNames(): string {
  return `// Written by \`npm run generate\` from the limits in \`state/entity_kinds.ts\` and \`endpoints/limits.ts\`. Do not edit.
/**
 * The limits that KEYSTEAD_LIMITS can set. The signer knows what they mean; the launcher, which imports nothing of the signer's, knows
 * their names, so that a wrong one is refused before a first start has made any key.
 */
export const limitNames: readonly string[] = [
${Object.keys(withLimits({}))
  .map((name) => `  "${name}",`)
  .join("\n")}
];
`;
}

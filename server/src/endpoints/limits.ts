import { Fault } from "@keystead/core/fault.ts";

/** Resource limits. All are configuration with generous defaults; a limit that is hit says which one. */
const defaultLimits = {
  userTagsPerOrganization: 1_000,
} as const;

/** The defaults with the operator's numbers in their places; a name that is no limit is refused. */
export function withLimits(chosen: Readonly<Record<string, number>>): Limits {
  for (const name of Object.keys(chosen)) {
    if (!Object.hasOwn(defaultLimits, name)) {
      const known = Object.keys(defaultLimits).join(", ");
      throw new Fault("invalid_argument", `KEYSTEAD_LIMITS: there is no limit \`${name}\`; there are: ${known}`);
    }
  }
  return { ...defaultLimits, ...chosen };
}

export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

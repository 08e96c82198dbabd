/** Resource limits. All are configuration with generous defaults; a limit that is hit says which one. */
export const defaultLimits = {
  userTagsPerOrganization: 1_000,
} as const;

export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

/** How large an expression may be. Together they bound the work of parsing, checking and compiling it. */
export const expressionLimits = {
  /** In UTF-8. */
  bytes: 4096,
  nodes: 512,
  /** Nodes from the root to a leaf; and, counted apart, brackets and `!` open at once. */
  depth: 32,
  /** As many as 2^256 - 1 has. */
  digits: 78,
} as const;

/** The largest number there is, in expressions as on the EVM. */
export const maxInteger = 2n ** 256n - 1n;

/**
 * How long tests wait for what must come to be. A machine may be twenty times slower than usual and busy with other tests,
 * so that a time says nothing about the code: it only ends a run that hangs.
 */

/** For one thing: a start, an answer, a line of output. */
export const patienceMs = 600_000;

/** For a whole test of a sample; with full counts a test may take hours. */
export const testTimeoutMs = process.env.KEYSTEAD_FIGURES === "1" ? 24 * 3_600_000 : 3_600_000;

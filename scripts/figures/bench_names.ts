/** What is measured for docs/figures.json besides the suites: benches with their options. */
import { lastBeforeSharing } from "../../bench/src/earlier_build.ts";

const databases = ["sqlite", "postgres"] as const;

export const benchNames: readonly string[] = [
  "bench",
  `bench --against ${lastBeforeSharing}`,
  "bench --scale",
  "bench --scale --wallets",
  // In parts: all attacks take hours, and a part is written down when it has come to its end.
  ...databases.flatMap((database) =>
    [
      "only flood$",
      "only costliest.[a-d]",
      "only costliest.[e-k]",
      "only costliest.[l-r]",
      "only costliest.[s-z]",
      "except flood$|costliest",
    ].map((part) => `bench --attack --${part} --database ${database}`),
  ),
  ...databases.map((database) => `bench --attack --alone --only flood$ --database ${database}`),
  "bench --timing",
  "bench --log",
];

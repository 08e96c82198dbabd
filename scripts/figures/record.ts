/** Everything that was ever measured, as it came out: docs/figures.json. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packages.ts";
import { benchNames } from "./bench_names.ts";
import { toPage } from "./page.ts";

export type SuiteFigures = { commit: string; passed: number; failed: number; said: readonly string[] };
export type BenchFigures = { commit: string; lines: readonly string[] };

export type Figures = {
  /** Where it was measured last. */
  machine: { node: string; cores: number; architecture: string };
  /** By path. */
  suites: Readonly<Record<string, SuiteFigures>>;
  /** By name. */
  benches: Readonly<Record<string, BenchFigures>>;
};

const json = join(root, "docs/figures.json");
const page = join(root, "docs/figures.md");

export function readFigures(): Figures {
  return JSON.parse(readFileSync(json, "utf8")) as Figures;
}

type Added = Partial<Pick<Figures, "suites" | "benches">>;

/** Adds to what is there, which is read anew: another part of it may have been measured meanwhile. */
export function addFigures(machine: Figures["machine"], added: Added): void {
  const figures = { ...withAdded(readFigures(), added), machine };
  writeFileSync(json, `${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(page, toPage(figures));
}

/** Suites and benches that are gone take their figures with them: nobody could measure them anew. */
export function withAdded(before: Figures, added: Added): Figures {
  const suites = Object.entries({ ...before.suites, ...added.suites }).filter(([path]) => existsSync(join(root, path)));
  const benches: Figures["benches"] = { ...before.benches, ...added.benches };
  return {
    ...before,
    suites: Object.fromEntries(suites.sort(([a], [b]) => (a < b ? -1 : 1))),
    benches: Object.fromEntries(
      benchNames.flatMap((name) => {
        const bench = benches[name];
        return bench === undefined ? [] : [[name, bench]];
      }),
    ),
  };
}

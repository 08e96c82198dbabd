/** Everything that was ever measured, as it came out: docs/figures.json. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packages.ts";
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

/** Adds to what is there, which is read anew: another part of it may have been measured meanwhile. Suites that are gone take theirs with them. */
export function addFigures(machine: Figures["machine"], added: Partial<Pick<Figures, "suites" | "benches">>): void {
  const before = readFigures();
  const suites = Object.entries({ ...before.suites, ...added.suites }).filter(([path]) => existsSync(join(root, path)));
  const figures: Figures = {
    machine,
    suites: Object.fromEntries(suites.sort(([a], [b]) => (a < b ? -1 : 1))),
    benches: { ...before.benches, ...added.benches },
  };
  writeFileSync(json, `${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(page, toPage(figures));
}

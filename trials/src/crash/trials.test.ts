/** What the crash matrix comes to with all its seeds, held without running it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { steps } from "@keystead/server/state/steps.ts";
import type { Store } from "@keystead/server/store/store.ts";
import { type ActKind, catalogue } from "../acts/catalogue.ts";
import { faultsOf, trialsOf, wholeSeeds } from "./trials.ts";

function allTrials(dialect: Store["dialect"]) {
  const first = Math.floor(Math.random() * 2 ** 31);
  return Array.from({ length: wholeSeeds }, (_, index) => trialsOf(dialect, first + index, true)).flat();
}

for (const dialect of dialects) {
  test(`with all seeds every act meets every step, and every kind of act every fault there, on ${dialect}`, (t) => {
    const trials = allTrials(dialect);
    const met = new Set(
      trials.flatMap(({ step, fault, kind, act }) => [`${step}, ${act.name}`, `${step}, ${fault}, ${kind}`]),
    );
    const missing = steps.flatMap(({ name: step }) =>
      Object.entries(catalogue).flatMap(([kind, acts]) =>
        [...acts.map((act) => act.name), ...faultsOf(dialect, kind as ActKind).map((fault) => `${fault}, ${kind}`)]
          .map((what) => `${step}, ${what}`)
          .filter((what) => !met.has(what)),
      ),
    );
    assert.deepEqual(missing, []);
    t.diagnostic(`${trials.length} trials with ${wholeSeeds} seeds`);
  });
}

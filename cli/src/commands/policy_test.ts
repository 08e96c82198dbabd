import type { PolicyCase, PolicyCaseFile } from "@keystead/core/policy/cases/case_file.ts";
import { type CaseResult, runCase } from "@keystead/core/policy/cases/cases.ts";
import { type CommandContext, UsageError } from "../command.ts";
import { readCaseFile } from "../policy_files.ts";
import { indented, reportLines } from "../policy_report.ts";
import { plural, printable } from "../printable.ts";

export async function policyTest({ args }: CommandContext): Promise<number> {
  if (args.length === 0) throw new UsageError("policy test needs a file of test cases");
  const counts = { passed: 0, failed: 0 };
  for (const path of args) {
    const file = await readCaseFile(path);
    for (const one of file.cases) {
      const result = runCase(file, one);
      counts[result.passed ? "passed" : "failed"] += 1;
      if (!result.passed)
        console.log([`${path}: ${printable(result.name)}`, ...failureLines(result, effectsOf(file, one))].join("\n"));
    }
  }
  const total = plural(counts.passed + counts.failed, "case");
  console.log(`${total}, ${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

type Effects = ReadonlyMap<string, "EFFECT_ALLOW" | "EFFECT_DENY">;

/** By name. */
function effectsOf(file: PolicyCaseFile, one: PolicyCase): Effects {
  return new Map((one.policies ?? file.policies ?? []).map(({ policyName, effect }) => [policyName, effect]));
}

function failureLines(result: CaseResult, effects: Effects): string[] {
  const { expected, got, error, evaluations, explanations } = result;
  if (error !== undefined) return [`  - ${expected}`, `  + cannot be run: ${printable(error)}`];
  const verdict = expected === got ? [] : [`  - ${expected}`, `  + ${got}`];
  const outcomes = evaluations.flatMap(({ policyName, outcome, expected: wanted = outcome }) =>
    outcome === wanted ? [] : [`  - "${printable(policyName)}" ${wanted}`, `  + "${printable(policyName)}" ${outcome}`],
  );
  const told = explanations.map((one) => ({ ...one, effect: effects.get(one.policyName) }));
  const why = told.length === 0 ? [] : reportLines(told, { isRefused: got === "deny" });
  return [...verdict, ...outcomes, ...indented(why, "    ")];
}

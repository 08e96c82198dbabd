import { type CaseResult, runCase } from "@keystead/core/policy/cases.ts";
import { type CommandContext, UsageError } from "../command.ts";
import { readCaseFile } from "../policy_files.ts";
import { explanationLines, indented } from "../policy_report.ts";
import { plural, printable } from "../printable.ts";

export async function policyTest({ args }: CommandContext): Promise<number> {
  if (args.length === 0) throw new UsageError("policy test needs a file of test cases");
  const counts = { passed: 0, failed: 0 };
  for (const path of args) {
    const file = await readCaseFile(path);
    const failed = file.cases.map((one) => runCase(file, one)).filter(({ passed }) => !passed);
    for (const result of failed)
      console.log([`${path}: ${printable(result.name)}`, ...failureLines(result)].join("\n"));
    counts.failed += failed.length;
    counts.passed += file.cases.length - failed.length;
  }
  const total = plural(counts.passed + counts.failed, "case");
  console.log(`${total}, ${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

function failureLines({ expected, got, error, evaluations, explanations }: CaseResult): string[] {
  if (error !== undefined) return [`  - ${expected}`, `  + cannot be run: ${printable(error)}`];
  const verdict = expected === got ? [] : [`  - ${expected}`, `  + ${got}`];
  const outcomes = evaluations.flatMap(({ policyName, outcome, expected: wanted = outcome }) =>
    outcome === wanted ? [] : [`  - "${printable(policyName)}" ${wanted}`, `  + "${printable(policyName)}" ${outcome}`],
  );
  const why = explanations.flatMap((explanation) => explanationLines(explanation.policyName, explanation));
  return [...verdict, ...outcomes, ...indented(why, "    ")];
}

import { type CommandContext, UsageError } from "../command.ts";
import { policyErrors } from "../policy_errors.ts";
import { readPolicyEntries } from "../policy_files.ts";
import { policyWarnings } from "../policy_warnings.ts";
import { plural } from "../printable.ts";

export async function policyCheck({ args, flags }: CommandContext): Promise<number> {
  if (args.length === 0) throw new UsageError("policy check needs a file of policies");
  const counts = { policies: 0, errors: 0, warnings: 0, unfinished: 0 };
  for (const path of args) {
    const { policies, misshapen } = await readPolicyEntries(path);
    const errors = [...misshapen.map((line) => [line]), ...policyErrors(path, policies)];
    // A policy with an error has no meaning yet that one could warn of, and warnings are about all of them together.
    const warnings = errors.length > 0 ? [] : policyWarnings(path, policies);
    for (const lines of [...errors, ...warnings]) console.log(lines.join("\n"));
    counts.policies += policies.length + misshapen.length;
    counts.errors += errors.length;
    counts.warnings += warnings.length;
    if (errors.length > 0) counts.unfinished += 1;
  }
  const { policies, errors, warnings, unfinished } = counts;
  const looked = unfinished < args.length ? [plural(warnings, "warning")] : [];
  const unfinishedNote = unfinished > 0 ? ["fix the errors to see warnings"] : [];
  console.log(
    [plural(policies, "policy", "policies"), plural(errors, "error"), ...looked, ...unfinishedNote].join(", "),
  );
  return errors > 0 || (flags.strict && warnings > 0) ? 1 : 0;
}

import { type CommandContext, UsageError } from "../command.ts";
import { policyErrors } from "../policy_errors.ts";
import { readPolicyFile } from "../policy_files.ts";
import { policyWarnings } from "../policy_warnings.ts";
import { plural } from "../printable.ts";

export async function policyCheck({ args, flags }: CommandContext): Promise<number> {
  if (args.length === 0) throw new UsageError("policy check needs a file of policies");
  const counts = { policies: 0, errors: 0, warnings: 0 };
  for (const path of args) {
    const policies = await readPolicyFile(path);
    const errors = policyErrors(path, policies);
    // A policy with an error has no meaning yet that one could warn of.
    const warnings = errors.length > 0 ? [] : policyWarnings(path, policies);
    for (const lines of [...errors, ...warnings]) console.log(lines.join("\n"));
    counts.policies += policies.length;
    counts.errors += errors.length;
    counts.warnings += warnings.length;
  }
  const { policies, errors, warnings } = counts;
  console.log(`${plural(policies, "policy", "policies")}, ${plural(errors, "error")}, ${plural(warnings, "warning")}`);
  return errors > 0 || (flags.strict && warnings > 0) ? 1 : 0;
}

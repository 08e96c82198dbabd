/** What is wrong with policies, and where. */
import { Fault } from "@keystead/core/fault.ts";
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { checkExpression } from "@keystead/core/policy/language/check.ts";
import { expressionKinds } from "@keystead/core/policy/vocabulary/vocabulary.ts";
import { linesAt } from "./policy_place.ts";

/** Lines for the terminal, for each expression of the file's policies that cannot be one. */
export function policyErrors(path: string, policies: readonly WrittenPolicy[]): string[][] {
  return policies.flatMap((policy) =>
    expressionKinds.flatMap((kind) => {
      const source = policy[kind] ?? "";
      try {
        if (source !== "") checkExpression(kind, source);
        return [];
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const { message, position } = placeOf(error.message.replace(`invalid policy ${kind}: `, ""));
        return [linesAt({ path, policyName: policy.policyName }, kind, source, position, message)];
      }
    }),
  );
}

/** The language ends its messages with the position, which counts from 0 through all lines. */
function placeOf(message: string): { message: string; position: number } {
  const [found, position = "0"] = / at position (\d+)(?: \(line \d+, column \d+\))?$/.exec(message) ?? [];
  return { message: found === undefined ? message : message.slice(0, -found.length), position: Number(position) };
}

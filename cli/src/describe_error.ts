import { KeysteadError } from "@keystead/sdk";
import { type Explained, explanationLines, indented } from "./policy_report.ts";
import { printable } from "./printable.ts";

/** One line for the terminal. */
export function describeError(error: unknown): string {
  if (error instanceof KeysteadError) {
    const kind = [`HTTP ${error.status}`, ...(error.errorCode === "" ? [] : [error.errorCode])].join(", ");
    return oneLine(`${error.message} (${kind})`);
  }
  return oneLine(error instanceof Error ? error.message : String(error));
}

type PolicyRefusal = { message: string; explanations?: (Explained & { policyId: string })[] };

/** What each policy found, below the line of a refusal by policies. */
export function refusalLines(error: unknown): string[] {
  if (!(error instanceof KeysteadError)) return [];
  const refusals = (error.details as Record<string, unknown>[]).filter((detail) =>
    String(detail?.["@type"]).endsWith("PolicyEnginePermissionError"),
  ) as PolicyRefusal[];
  return refusals.flatMap(({ message, explanations = [] }) => [
    printable(oneLine(message)),
    ...indented(
      explanations.flatMap((one) => explanationLines(one.policyId, one)),
      "  ",
    ),
  ]);
}

/** The innermost reason: `fetch` says only that it failed. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

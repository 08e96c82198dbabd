/** Findings about a policy, with a caret below the place they are about. */
import { printable } from "./printable.ts";

/** The file and the policy. */
export type Subject = { path: string; policyName: string };

/** Lines for the terminal. `position` counts from 0 through all lines of the source. */
export function linesAt(subject: Subject, kind: string, source: string, position: number, message: string): string[] {
  const before = source.slice(0, position).split("\n");
  const line = before.length;
  const start = before.at(-1) ?? "";
  const head = `${titleOf(subject)}: ${kind} ${line}:${start.length + 1}: ${printable(message)}`;
  // What is shown in more places than it has moves the caret along with it.
  const caret = `  ${" ".repeat(printable(start).length)}^`;
  return [head, `  ${printable(source.split("\n")[line - 1] ?? "")}`, caret];
}

/** A finding about the policy as a whole. */
export function lineAbout(subject: Subject, message: string): string[] {
  return [`${titleOf(subject)}: ${printable(message)}`];
}

function titleOf({ path, policyName }: Subject): string {
  return `${path}: "${printable(policyName)}"`;
}

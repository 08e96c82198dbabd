/** What types have to do with each other, and what they are called. */
import { any, list, type PolicyType } from "./types.ts";

/** Structs are told apart by their names: no two in the vocabulary share one. */
export function isSameType(a: PolicyType, b: PolicyType): boolean {
  if (a.kind === "list" && b.kind === "list") return isSameType(a.of, b.of);
  if (a.kind === "struct" && b.kind === "struct") return a.name === b.name;
  return a.kind === b.kind;
}

/** The type of a place that holds one or the other, or undefined if no place does. */
export function joinTypes(a: PolicyType, b: PolicyType): PolicyType | undefined {
  if (a.kind === "any" || b.kind === "any") return any;
  if (a.kind === "list" && b.kind === "list") {
    const of = joinTypes(a.of, b.of);
    return of === undefined ? undefined : list(of);
  }
  return isSameType(a, b) ? a : undefined;
}

/** For messages. */
export function describeType(type: PolicyType): string {
  switch (type.kind) {
    case "int":
      return "an int";
    case "any":
      return "a value that only the request knows";
    default:
      return `a ${type.kind}`;
  }
}

/** Text to an expression that can be evaluated: parsed, every name known, every type right where it can be known. */
import { Fault } from "../../fault.ts";
import type { PolicyType } from "../vocabulary/types.ts";
import type { ExpressionKind } from "../vocabulary/vocabulary.ts";
import type { Expression } from "./ast.ts";
import { parseExpression } from "./parser.ts";
import { TypeChecker } from "./type_checker.ts";

export type CheckedExpression = {
  kind: ExpressionKind;
  source: string;
  /** Fields have one spelling here, even where the source has another. */
  root: Expression;
  /**
   * What an activity must have for the expression to apply to it, each once, in the order of the source: `wallet`,
   * `eth.tx`, `activity.params.user_id` and so on. Only a `condition` needs anything.
   */
  needs: readonly string[];
};

/** Throws `invalid_argument`, saying which of a policy's expressions is wrong, why, and where. */
export function checkExpression(kind: ExpressionKind, source: string): CheckedExpression {
  const { root, type, checker } = resolve(kind, source);
  named(kind, () => checker.requireBool("the expression", root, type));
  return { kind, source, root, needs: [...checker.needs] };
}

/** One of a policy's three texts: an empty one is true. */
export function checkOptional(kind: ExpressionKind, source: string): CheckedExpression {
  if (source !== "") return checkExpression(kind, source);
  return { kind, source, root: { kind: "literal", value: true, start: 0, end: 0 }, needs: [] };
}

/** The type of a piece that need not be true or false. Throws like `checkExpression`. */
export function typeOf(kind: ExpressionKind, source: string): PolicyType {
  return resolve(kind, source).type;
}

function resolve(kind: ExpressionKind, source: string) {
  return named(kind, () => {
    const written = parseExpression(source);
    const checker = new TypeChecker(kind, source);
    const type = checker.typeOf(written);
    return { root: checker.withoutAliases(written), checker, type };
  });
}

function named<T>(kind: ExpressionKind, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault(error.code, `invalid policy ${kind}: ${error.message}`);
  }
}

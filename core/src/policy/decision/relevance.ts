/**
 * Who a policy's `consensus` is about. A user is relevant if one of its clauses holds for that user alone: the inside of an
 * `any`, `all` or `filter` over approvers or their credentials, wherever it stands, also under `!` and `||`; or a
 * comparison with an approver picked by its index. A plain `approvers.count()` is about everybody.
 */

import { type CompiledExpression, compileExpression } from "../evaluation/evaluate.ts";
import { type Allowance, Scope, type Voices } from "../evaluation/scope.ts";
import type { Expression } from "../language/ast.ts";
import type { CheckedExpression } from "../language/check.ts";
import { childrenOf } from "../language/children.ts";
import type { Result } from "../values/values.ts";

export type Relevance = {
  /** Everybody is relevant, because everybody is counted. */
  countsAnyone: boolean;
  /** Whether a clause holds for this user. Without steps left, none does. */
  isNamed(voice: Voices, allowance?: Allowance): boolean;
};

/** Who is named is what the decision's own evaluator says on its way: it has an ear at the clauses. */
export function compileConsensus(consensus: CheckedExpression): {
  expression: CompiledExpression;
  relevance: Relevance;
} {
  const { clauses, countsAnyone } = findClauses(consensus);
  const ear = new Ear();
  const expression = compileExpression(consensus, (node) => (clauses.has(node) ? ear.hear : undefined));
  return { expression, relevance: relevanceOf(expression, ear, countsAnyone) };
}

function relevanceOf({ evaluate }: CompiledExpression, ear: Ear, countsAnyone: boolean): Relevance {
  return {
    countsAnyone,
    isNamed({ approvers, credentials }, allowance) {
      if (allowance !== undefined && allowance.left <= 0) return false;
      ear.isNamed = false;
      evaluate(new Scope(undefined, { approvers, credentials }, 0, allowance));
      // A vote brings one credential, and another that the clause cannot be asked of must not hide what this one says.
      for (const one of credentials.length > 1 ? credentials : []) {
        if (!ear.isNamed) evaluate(new Scope(undefined, { approvers, credentials: [one] }, 0, allowance));
      }
      return ear.isNamed;
    },
  };
}

/** Whether a clause has held since this was last set. Other evaluations of the same expression set it too. */
class Ear {
  isNamed = false;

  readonly hear = (result: Result): void => {
    this.isNamed ||= result === true;
  };
}

function findClauses({ root }: CheckedExpression): Found {
  const found: Found = { clauses: new Set(), countsAnyone: false };
  visit(root, { hidden: new Set(), holder: root }, found);
  return found;
}

type Found = { clauses: Set<Expression>; countsAnyone: boolean };

type Surroundings = {
  /** Names that here mean an element, whatever they mean elsewhere. */
  hidden: ReadonlySet<string>;
  /** The smallest part around that is true or false. */
  holder: Expression;
};

function visit(node: Expression, around: Surroundings, found: Found): void {
  const inside = isVerdict(node) ? { ...around, holder: node } : around;
  if (node.kind === "count" && isVoices(node.of, around)) found.countsAnyone = true;
  if (node.kind === "index" && isFromVoices(node.of, around)) found.clauses.add(around.holder);
  if (node.kind !== "each") {
    for (const child of childrenOf(node)) visit(child, inside, found);
    return;
  }
  if (isFromVoices(node.of, around)) found.clauses.add(node.body);
  visit(node.of, inside, found);
  visit(node.body, { hidden: new Set(around.hidden).add(node.binder), holder: node.body }, found);
}

function isVerdict(node: Expression): boolean {
  return node.kind === "compare" || node.kind === "contains" || (node.kind === "each" && node.method !== "filter");
}

function isVoices(node: Expression, { hidden }: Surroundings): boolean {
  return node.kind === "name" && (node.name === "approvers" || node.name === "credentials") && !hidden.has(node.name);
}

/** The list itself, or what is left of it after a filter or a slice. */
function isFromVoices(node: Expression, around: Surroundings): boolean {
  if (node.kind === "slice" || (node.kind === "each" && node.method === "filter")) return isFromVoices(node.of, around);
  return isVoices(node, around);
}

/** The shape of an expression, as written. Positions count UTF-16 units of the source, so that every message can point. */
import type { CronSpan } from "../time/cron_span.ts";

export type SourceRange = { start: number; end: number };

export type EachMethod = "all" | "any" | "filter";
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in";

/** One node. Chains of `&&` and of `||` are one node each, however long, so that depth means nesting. */
export type Expression = SourceRange &
  (
    | { kind: "literal"; value: boolean | bigint | string }
    | { kind: "list"; items: readonly Expression[] }
    /** A keyword of the vocabulary, or a name that `all`, `any` or `filter` binds. */
    | { kind: "name"; name: string }
    | { kind: "field"; of: Expression; readonly name: string }
    | { kind: "index"; of: Expression; at: Expression }
    | { kind: "slice"; of: Expression; from: Expression; to: Expression }
    | { kind: "each"; method: EachMethod; of: Expression; binder: string; body: Expression }
    | { kind: "contains"; of: Expression; item: Expression }
    | { kind: "count"; of: Expression }
    | { kind: "not"; of: Expression }
    | { kind: "and" | "or"; items: readonly Expression[] }
    | { kind: "compare"; operator: CompareOperator; left: Expression; right: Expression }
    | { kind: "timestamp"; ms: number }
    | { kind: "cronSpan"; cronSpan: CronSpan }
  );

/** Gives each part of an expression its type, or says why it has none. */
import type { Fault } from "../../fault.ts";
import { faultAt, quote } from "../position.ts";
import { describeType, joinTypes } from "../vocabulary/type_relations.ts";
import { any, bool, int, list, type PolicyType, string, timestamp } from "../vocabulary/types.ts";
import {
  type ExpressionKind,
  expressionKinds,
  fieldAliases,
  namespaces,
  vocabularies,
} from "../vocabulary/vocabulary.ts";
import type { CompareOperator, Expression } from "./ast.ts";
import { withChildren } from "./children.ts";
import { comparisonHint, isComparable, type Operand } from "./comparable.ts";
import { suggest } from "./suggest.ts";

type Node<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;
/** What `all`, `any` and `filter` call their elements at some place. */
type Binders = ReadonlyMap<string, PolicyType>;

export class TypeChecker {
  /** What the expression asks of an activity; see `CheckedExpression`. */
  readonly needs = new Set<string>();
  readonly #kind: ExpressionKind;
  readonly #source: string;
  /** Items of lists are asked for twice. Without a memory, each list around them would double the work. */
  readonly #types = new Map<Expression, PolicyType>();
  /** The field's own name, of nodes that spell it otherwise. */
  readonly #aliased = new Map<Expression, string>();

  constructor(kind: ExpressionKind, source: string) {
    this.#kind = kind;
    this.#source = source;
  }

  /** The type of what must have a value, which names that only lead to others have not. */
  typeOf(node: Expression, binders: Binders = new Map()): PolicyType {
    const type = this.#types.get(node) ?? this.#typeOf(node, binders);
    this.#types.set(node, type);
    if (presenceOf(type) === undefined || type.kind !== "struct") return type;
    const fields = Object.keys(type.fields).slice(0, 3).join(", ");
    throw this.#fault(node, `\`${type.name}\` alone is not a value: expected a field of it such as ${fields}`);
  }

  /** A tree like this one, which was checked, in which every field has its own name: the evaluation knows no other. */
  withoutAliases(node: Expression): Expression {
    if (this.#aliased.size === 0) return node;
    const copy = withChildren(node, (child) => this.withoutAliases(child));
    const name = this.#aliased.get(node);
    return copy.kind === "field" && name !== undefined ? { ...copy, name } : copy;
  }

  /** Refuses what is not true or false. */
  requireBool(what: string, node: Expression, type: PolicyType): void {
    if (type.kind === "bool" || type.kind === "any") return;
    throw this.#fault(node, `${what} must be a bool, but ${this.#text(node)} is ${describeType(type)}`);
  }

  #typeOf(node: Expression, binders: Binders): PolicyType {
    const typeOf = (child: Expression): PolicyType => this.typeOf(child, binders);
    switch (node.kind) {
      case "literal":
        return typeof node.value === "bigint" ? int : typeof node.value === "boolean" ? bool : string;
      case "list":
        return this.#list(node, node.items.map(typeOf));
      case "name":
        return this.#name(node, binders);
      case "field":
        return this.#field(node, this.#typeOf(node.of, binders));
      case "index":
        return this.#index(node, typeOf(node.of), typeOf(node.at));
      case "slice":
        return this.#slice(node, typeOf(node.of), typeOf(node.from), typeOf(node.to));
      case "each": {
        const element = this.#elementOf(`\`${node.method}\``, node.of, typeOf(node.of));
        const body = this.typeOf(node.body, new Map(binders).set(node.binder, element));
        this.requireBool(`the condition of \`${node.method}\``, node.body, body);
        return node.method === "filter" ? list(element) : bool;
      }
      case "contains":
        return this.#membership("`contains`", node.item, node.of, typeOf);
      case "count":
        this.#elementOf("`count`", node.of, typeOf(node.of));
        return int;
      case "not":
        this.requireBool("what `!` negates", node.of, typeOf(node.of));
        return bool;
      case "and":
      case "or": {
        const operator = node.kind === "and" ? "`&&`" : "`||`";
        for (const item of node.items) this.requireBool(`each side of ${operator}`, item, typeOf(item));
        return bool;
      }
      case "compare": {
        if (node.operator === "in") return this.#membership("`in`", node.left, node.right, typeOf);
        const left = { node: node.left, type: typeOf(node.left) };
        this.#compare(node.operator, left, { node: node.right, type: typeOf(node.right) });
        return bool;
      }
      case "timestamp":
      case "cronSpan":
        if (this.#kind === "time") return node.kind === "timestamp" ? timestamp : bool;
        throw this.#fault(node, `${this.#text(node)} belongs in \`time\`, not in \`${this.#kind}\``);
    }
  }

  /** What only the request knows may be of the type of the others, which must still be one. */
  #list(node: Node<"list">, types: readonly PolicyType[]): PolicyType {
    let known: PolicyType | undefined;
    for (const [i, item] of node.items.entries()) {
      const type = types[i] ?? any;
      if (type.kind === "any") continue;
      const joined = known === undefined ? type : joinTypes(known, type);
      if (joined === undefined) {
        const kinds = `${describeType(type)} after ${describeType(known ?? any)}`;
        throw this.#fault(item, `a list holds one type, but ${this.#text(item)} is ${kinds}`);
      }
      known = joined;
    }
    return list(known === undefined || types.includes(any) ? any : known);
  }

  #name(node: Node<"name">, binders: Binders): PolicyType {
    const bound = binders.get(node.name);
    if (bound !== undefined) return bound;
    const type = find(vocabularies[this.#kind], node.name);
    if (type === undefined) throw this.#unknownName(node, binders);
    // `consensus` and `time` see the same of every activity.
    if (this.#kind === "condition" && presenceOf(type) === undefined) this.needs.add(node.name);
    return type;
  }

  #unknownName(node: Node<"name">, binders: Binders): Fault {
    const home = expressionKinds.find((kind) => Object.hasOwn(vocabularies[kind], node.name));
    const unknown = quote(node.name);
    if (home !== undefined) return this.#fault(node, `${unknown} belongs in \`${home}\`, not in \`${this.#kind}\``);
    const known = [...binders.keys(), ...Object.keys(vocabularies[this.#kind])];
    return this.#fault(node, `unknown name ${unknown} (text is written in quotes)${suggest(node.name, known)}`);
  }

  #field(node: Node<"field">, of: PolicyType): PolicyType {
    // The name is the last thing of the node.
    const at = { start: node.end - node.name.length };
    if (of.kind !== "struct") {
      const hint = of.kind === "map" || of.kind === "any" ? `: write \`['${node.name}']\`` : "";
      throw this.#fault(at, `${describeType(of)} has no field ${quote(node.name)}${hint}`);
    }
    const alias = find(fieldAliases[of.name] ?? {}, node.name);
    if (alias !== undefined) this.#aliased.set(node, alias);
    const name = alias ?? node.name;
    const type = find(of.fields, name);
    if (type === undefined) {
      const hint = suggest(name, Object.keys(of.fields));
      throw this.#fault(at, `unknown field ${quote(name)} of ${of.name}${hint}`);
    }
    if (presenceOf(of) === "sometimes") this.needs.add(`${of.name}.${name}`);
    return type;
  }

  #index(node: Node<"index">, of: PolicyType, at: PolicyType): PolicyType {
    const wanted = indexes[of.kind];
    if (wanted === undefined) {
      throw this.#fault(node.of, `${this.#text(node.of)} is ${describeType(of)} and has no \`[…]\``);
    }
    if (at.kind !== "any" && !wanted.some(({ kind }) => kind === at.kind)) {
      const rule = `the index of ${describeType(of)} must be ${wanted.map(describeType).join(" or ")}`;
      throw this.#fault(node.at, `${rule}, but ${this.#text(node.at)} is ${describeType(at)}`);
    }
    if (of.kind === "list") return of.of;
    return of.kind === "string" ? string : any;
  }

  #slice(node: Node<"slice">, of: PolicyType, from: PolicyType, to: PolicyType): PolicyType {
    if (of.kind !== "list" && of.kind !== "string" && of.kind !== "any") {
      throw this.#fault(
        node.of,
        `only lists and strings have slices, but ${this.#text(node.of)} is ${describeType(of)}`,
      );
    }
    for (const [bound, type] of [[node.from, from] as const, [node.to, to] as const]) {
      if (type.kind === "int" || type.kind === "any") continue;
      throw this.#fault(bound, `a bound of a slice must be an int, but ${this.#text(bound)} is ${describeType(type)}`);
    }
    return of;
  }

  #elementOf(what: string, node: Expression, type: PolicyType): PolicyType {
    if (type.kind === "list") return type.of;
    if (type.kind === "any") return any;
    throw this.#fault(node, `${what} needs a list, but ${this.#text(node)} is ${describeType(type)}`);
  }

  /** The items of a list that is written out are compared one by one: which of them are numbers in quotes shows only so. */
  #membership(what: string, item: Expression, of: Expression, typeOf: (node: Expression) => PolicyType): PolicyType {
    const element = this.#elementOf(what, of, typeOf(of));
    const sought = { node: item, type: typeOf(item) };
    if (of.kind === "list") for (const node of of.items) this.#compare("in", sought, { node, type: typeOf(node) });
    // For the empty list too: what has no equality is in no list.
    if (of.kind === "list" && isComparable("in", sought, sought)) return bool;
    this.#compare("in", sought, { node: of, type: element }, `a list of ${element.kind}`);
    return bool;
  }

  #compare(operator: CompareOperator, left: Operand, right: Operand, described?: string): void {
    if (isComparable(operator, left, right)) return;
    const rightType = described ?? describeType(right.type);
    const pair = `${this.#text(left.node)}, ${describeType(left.type)}, with ${this.#text(right.node)}, ${rightType}`;
    throw this.#fault(right.node, `\`${operator}\` cannot compare ${pair}${comparisonHint(left, right)}`);
  }

  #text({ start, end }: Expression): string {
    return quote(this.#source.slice(start, end));
  }

  #fault({ start }: { start: number }, message: string): Fault {
    return faultAt(this.#source, start, message);
  }
}

/** What stands between the brackets. */
const indexes: Readonly<Partial<Record<PolicyType["kind"], readonly PolicyType[]>>> = {
  list: [int],
  string: [int],
  map: [string],
  any: [int, string],
};

/** Of a namespace: whether its fields are there for every activity. */
function presenceOf(type: PolicyType): "always" | "sometimes" | undefined {
  return type.kind === "struct" ? find(namespaces, type.name) : undefined;
}

function find<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

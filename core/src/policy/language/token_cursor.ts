/** A place in the tokens of one expression, and the count of what has been built from those before it. */
import type { Fault } from "../../fault.ts";
import { expressionLimits } from "../expression_limits.ts";
import { faultAt, quote } from "../position.ts";
import type { Expression } from "./ast.ts";
import { type Token, tokenize } from "./lexer.ts";

export class TokenCursor {
  readonly source: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #nodes = 0;
  /** Brackets and `!` whose end has not been reached: what the parser recurses on. */
  #open = 0;

  constructor(source: string) {
    this.source = source;
    this.#tokens = tokenize(source);
  }

  /** The token that comes next. The last one is `end`, and nothing takes it. */
  get token(): Token {
    return this.#tokens[this.#next] ?? { kind: "end", text: "", start: this.source.length, end: this.source.length };
  }

  take(): Token {
    const token = this.token;
    this.#next += 1;
    return token;
  }

  /** Whether a symbol, or a word that works like one, comes next. Text in quotes is neither, whatever it says. */
  isAt(text: string): boolean {
    const token = this.token;
    return token.text === text && (token.kind === "symbol" || token.kind === "name");
  }

  accept(text: string): boolean {
    const found = this.isAt(text);
    if (found) this.#next += 1;
    return found;
  }

  acceptOneOf<T extends string>(texts: readonly T[]): T | undefined {
    const { kind, text } = this.token;
    if (kind !== "symbol" && kind !== "name") return undefined;
    const found = texts.find((each) => each === text);
    if (found !== undefined) this.#next += 1;
    return found;
  }

  expect(symbol: string): void {
    if (!this.accept(symbol)) throw this.unexpected(`\`${symbol}\``);
  }

  expectKind(kind: Token["kind"], what: string): Token {
    if (this.token.kind !== kind) throw this.unexpected(what);
    return this.take();
  }

  within<T>(open: string, close: string, parse: () => T): T {
    const { start } = this.token;
    this.expect(open);
    const inner = this.nested(start, parse);
    this.expect(close);
    return inner;
  }

  nested<T>(start: number, parse: () => T): T {
    if (this.#open === expressionLimits.depth) throw this.tooDeep(start);
    this.#open += 1;
    const inner = parse();
    this.#open -= 1;
    return inner;
  }

  /** Of the token taken last. */
  get end(): number {
    return this.#tokens[this.#next - 1]?.end ?? 0;
  }

  /** The node, which is counted. */
  node(node: Expression): Expression {
    this.#nodes += 1;
    const limit = expressionLimits.nodes;
    if (this.#nodes <= limit) return node;
    throw this.faultAt(node.start, `the expression has more than ${limit} parts, the last of them`);
  }

  unexpected(expected: string): Fault {
    const { kind, start, end } = this.token;
    const found = kind === "end" ? "the end" : quote(this.source.slice(start, end));
    return this.faultAt(start, `expected ${expected} but found ${found}`);
  }

  tooDeep(start: number): Fault {
    return this.faultAt(start, `the expression is nested more than ${expressionLimits.depth} levels deep`);
  }

  faultAt(start: number, message: string): Fault {
    return faultAt(this.source, start, message);
  }
}

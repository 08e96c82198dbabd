/**
 * The engine against a second evaluator that was written from the text of the language alone (core/test/policy): on every
 * expression that is accepted, both find the same value or both find none.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { bent } from "../../../test/policy/bent_expressions.ts";
import { generatorOf, randomExpression } from "../../../test/policy/expressions.ts";
import { naiveEvaluate, type Plain, stepsTaken, Wrong } from "../../../test/policy/naive_evaluate.ts";
import { naiveParse, type Tree } from "../../../test/policy/naive_parse.ts";
import { Refused } from "../../../test/policy/naive_time.ts";
import { toConditionFacts, toValue } from "../../../test/policy/real_facts.ts";
import { type Chance, chosenSeed, seeded } from "../../../test/policy/seeded.ts";
import { conditionWorld, consensusWorld, timeWorld, type World } from "../../../test/policy/worlds.ts";
import { samples } from "../../../test/samples.ts";
import { vectorsAbsent } from "../../../test/vectors.ts";
import { Fault } from "../../fault.ts";
import { type CheckedExpression, checkExpression } from "../language/check.ts";
import { parseExpression } from "../language/parser.ts";
import { EvaluationError, type Value } from "../values/values.ts";
import { compile } from "./evaluate.ts";
import { Scope } from "./scope.ts";

const rounds = samples.policyExpressions;

type Kind = World["kind"];
type Written = { kind: Kind; source: string };

/** Too large a text, which chance writes once in a while. */
const oversized = /longer than 4096 bytes|more than 512 parts|32 levels deep/;
/** What SPEC.md is stricter about than the grammar that the second parser knows. */
const stricter =
  /cannot be seen|less than 2\^256|is not a number|finer than a millisecond|is not a cron pattern|is not a duration|is not a time zone/;
/** Names behind which only the request knows the types. */
const untyped = /contract_call_args|message|named_accounts|program_call_args|static_properties/;

const worldsOf: Readonly<Record<Kind, (chance: Chance) => World>> = {
  condition: conditionWorld,
  consensus: consensusWorld,
  time: timeWorld,
};

function scopeOf(world: World): Scope {
  const { approvers = [], credentials = [] } = world.kind === "consensus" ? world.names : {};
  const voices = { approvers: toValue(approvers) as Value[], credentials: toValue(credentials) as Value[] };
  return new Scope(world.kind === "condition" ? toConditionFacts(world) : undefined, voices, world.now.getTime());
}

/** The refusal of an expression, which must be one of ours and point somewhere. */
function attempt<T>(source: string, make: () => T): T | string {
  try {
    return make();
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === "invalid_argument", `${JSON.stringify(source)}: ${error}`);
    assert.match(error.message, / at position \d+( \(line \d+, column \d+\))?$/);
    return error.message;
  }
}

function naiveTree(source: string): Tree | undefined {
  try {
    return naiveParse(source);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return undefined;
  }
}

/** True, false, or why there is neither. */
function naiveOutcome(tree: Tree, world: World): boolean | Wrong["why"] {
  try {
    const result = naiveEvaluate(tree, [world.names], world.now);
    return typeof result === "boolean" ? result : "type";
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return error.why;
  }
}

/** Compares both sides on one expression; says what became of it. */
function compareOn({ kind, source }: Written, world: World, scope: Scope): string {
  const tree = naiveTree(source);
  const checked = attempt(source, () => checkExpression(kind, source));
  if (typeof checked === "string") {
    const parsed = attempt(source, () => parseExpression(source));
    if (typeof parsed !== "string") assert.ok(tree !== undefined, "only the engine takes it for an expression");
    else if (oversized.test(parsed)) return "oversized";
    else assert.ok(tree === undefined || stricter.test(parsed), `only the engine does not parse it: ${parsed}`);
    return typeof parsed === "string" ? "unparsable" : "refused";
  }
  assert.ok(tree !== undefined, "only the engine takes it for an expression");
  return compareValues(checked, tree, world, scope);
}

function compareValues(checked: CheckedExpression, tree: Tree, world: World, scope: Scope): string {
  scope.stepsLeft = 0;
  const value = compile(checked)(scope);
  const expected = naiveOutcome(tree, world);
  if (value instanceof EvaluationError && /steps$/.test(value.message)) {
    assert.ok(stepsTaken() > 10_000, "far from the budget, and still exhausted");
    return "exhausted";
  }
  assert.ok(scope.stepsLeft >= 0, "beyond the budget, and still a value");
  const shown = value instanceof EvaluationError ? value.message : `${value}`;
  assert.equal(typeof value === "boolean" ? value : "error", typeof expected === "boolean" ? expected : "error", shown);
  assert.ok(expected !== "type" || untyped.test(checked.source), "the check let a wrong type through");
  return `${expected}`;
}

const shared = resolve(import.meta.dirname, "../../../../../shared");
const examplesPath = join(shared, "reference/policy-examples.jsonl");

/** Published policies, if they are there; bent, they lead to mistakes that people make. */
function publishedExpressions(): readonly Written[] {
  if (!existsSync(examplesPath)) return [];
  return readFileSync(examplesPath, "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => {
      const row = JSON.parse(line) as Record<Kind, string | null | undefined>;
      return (["consensus", "condition", "time"] as const).flatMap((kind) => {
        const source = row[kind];
        return source ? [{ kind, source }] : [];
      });
    });
}

test(`${rounds} expressions, two thirds of them bent: the value that a second evaluator finds, or none where it finds none`, (t) => {
  const seed = chosenSeed();
  const chance = seeded(seed);
  const generator = generatorOf(chance);
  const traces = Error.stackTraceLimit;
  // The second evaluator throws where there is no value, and stacks would take most of its time.
  Error.stackTraceLimit = 0;
  t.after(() => {
    Error.stackTraceLimit = traces;
  });
  const published = publishedExpressions();
  if (published.length === 0) t.diagnostic(`${vectorsAbsent}: only generated expressions are bent`);
  const worlds = new Map<Kind, { world: World; scope: Scope }>();
  const counts: Record<string, number> = {};
  let other = "true";
  for (let round = 0; round < rounds; round++) {
    // New facts now and then; making them takes longer than evaluating over them.
    if (round % 20 === 0) worlds.clear();
    const row = published.length > 0 && chance.once(3) ? chance.of(published) : undefined;
    const kind = row?.kind ?? chance.of(["condition", "condition", "condition", "consensus", "time"] as const);
    const made = worlds.get(kind) ?? { world: worldsOf[kind](chance), scope: undefined };
    const facts = { world: made.world, scope: made.scope ?? scopeOf(made.world) };
    worlds.set(kind, facts);
    const whole = row?.source ?? randomExpression(generator, facts.world);
    const isBent = row !== undefined || chance.once(2);
    const source = isBent ? bent(whole, other, chance) : whole;
    other = whole;
    let outcome: string;
    try {
      outcome = compareOn({ kind, source }, facts.world, facts.scope);
      assert.ok(isBent || !["unparsable", "refused"].includes(outcome), "a well-typed expression is refused");
    } catch (error) {
      // Stacks are off, so that the place stands in the message.
      throw new Error(`seed ${seed}, round ${round}, ${kind} ${JSON.stringify(source)}: ${error}`);
    }
    const what = `${isBent ? "bent" : "whole"} ${outcome}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`);
  const reached = [
    "whole true",
    "whole false",
    "whole absent",
    "whole range",
    "bent true",
    "bent false",
    "bent refused",
  ];
  for (const what of reached) assert.ok((counts[what] ?? 0) > rounds / 200, `${what} is hardly reached`);
});

/** Loops in loops over a list of the request. */
function nested(depth: number, list: string, inside: string): string {
  return Array.from({ length: depth }).reduce<string>((body, _, i) => `${list}.all(x${i}, ${body})`, inside);
}

test("loops in loops end at the budget, with an error and never with a value", () => {
  const accounts = (length: number) => Array.from({ length }, (_, i) => `account${i}`);
  const outcomes = [1, 2, 5, 10, 30, 100, 1_000, 100_001].flatMap((length) =>
    [1, 2, 3, 5].map((depth) => {
      const source = nested(depth, "solana.tx.account_keys", "x0 != ''");
      const world = { names: { activity: {}, solana: { tx: { account_keys: accounts(length) } } }, paramNames: [] };
      const scope = new Scope(toConditionFacts(world), { approvers: [], credentials: [] }, 0);
      const value = compile(checkExpression("condition", source))(scope);
      const visits = Array.from({ length: depth }, (_, i) => length ** (i + 1)).reduce((sum, count) => sum + count, 0);
      if (value === true) assert.ok(visits <= 100_000 && scope.stepsLeft >= 0, `${length} ^ ${depth}`);
      else assert.ok(value instanceof EvaluationError && visits > 10_000, `${length} ^ ${depth}: ${value}`);
      return value === true;
    }),
  );
  assert.ok(outcomes.includes(true) && outcomes.includes(false));
});

test("text beyond 64 KiB has no value, wherever it comes from", () => {
  const at = (length: number, source: string) => {
    const text = "a".repeat(length);
    const inside = new Map<string, Plain>([
      ["text", text],
      ["list", [text]],
      ["hex", { hex: text }],
    ]);
    const names = {
      activity: {},
      wallet: { label: text },
      eth: { tx: { data: { hex: text }, contract_call_args: inside } },
    };
    const scope = new Scope(toConditionFacts({ names, paramNames: [] }), { approvers: [], credentials: [] }, 0);
    const tree = naiveTree(source) ?? assert.fail(source);
    const world = { kind: "condition", names, now: new Date(0), starts: [], paramNames: [] } as const;
    return [compile(checkExpression("condition", source))(scope), naiveOutcome(tree, world)];
  };
  for (const source of [
    "wallet.label != 'a'",
    "eth.tx.data[0..1] == 'A'",
    "eth.tx.contract_call_args['text'] != 'a'",
    "eth.tx.contract_call_args['hex'] != 'a'",
    "eth.tx.contract_call_args['list'][0] != 'a'",
    "eth.tx.contract_call_args['list'].all(x, true)",
    "!eth.tx.contract_call_args['list'].contains('a')",
  ]) {
    assert.deepEqual(at(64 * 1024, source), [true, true], source);
    const [value, expected] = at(64 * 1024 + 1, source);
    assert.ok(value instanceof EvaluationError && expected === "size", source);
  }
});

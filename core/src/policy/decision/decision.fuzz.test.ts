/** Whole decisions against a second implementation of the table: outcomes, verdict, and who may vote. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type Generator, generatorOf } from "../../../test/policy/expressions.ts";
import { type NaiveQuestion, type NaiveUser, naiveDecide, naiveIsEligible } from "../../../test/policy/naive_decide.ts";
import type { Fields } from "../../../test/policy/naive_evaluate.ts";
import { randomQuestion } from "../../../test/policy/questions.ts";
import { toConditionFacts } from "../../../test/policy/real_facts.ts";
import { chosenSeed, seeded } from "../../../test/policy/seeded.ts";
import { conditionWorld, type World } from "../../../test/policy/worlds.ts";
import { samples } from "../../../test/samples.ts";
import { Fault } from "../../fault.ts";
import { Scope, voicesOf } from "../evaluation/scope.ts";
import type { ConditionFacts, CredentialFacts, UserFacts } from "../facts/facts.ts";
import { EvaluationError } from "../values/values.ts";
import { type CompiledPolicy, compilePolicy } from "./compiled_policy.ts";
import { decidePolicies, isEligible, type PolicyDecision, type PolicyQuestion } from "./decide.ts";
import { explain } from "./explain.ts";
import { trace } from "./trace.ts";

const rounds = samples.policyDecisions;

function toCredential({ id, type, credential_id, public_key }: Fields): CredentialFacts {
  const [credentialId, publicKey] = [credential_id as string, public_key as string];
  // Absent and empty are alike to policies.
  return { id: id as string, type: type as string, publicKey, ...(credentialId === "" ? {} : { credentialId }) };
}

function toUser({ id, alias, email, tags, credentials }: NaiveUser): UserFacts {
  const userEmail = email === "" ? {} : { userEmail: email };
  return { userId: id, userName: alias, ...userEmail, userTags: tags, credentials: credentials.map(toCredential) };
}

/** A question whose policies all pass the check, and the engine's form of it. */
function acceptedQuestion(
  generator: Generator,
  worlds: readonly World[],
): { naive: NaiveQuestion; real: PolicyQuestion } {
  const drawn = randomQuestion(generator, worlds);
  const compiled = drawn.policies.flatMap((text) => {
    const policy = compiledOrUndefined(text);
    return policy === undefined ? [] : [{ text, policy }];
  });
  const naive = { ...drawn, policies: compiled.map(({ text }) => text) };
  return {
    naive,
    real: {
      policies: compiled.map(({ policy }, i) => ({ policyId: `${i}`, policy })),
      views: naive.views.map(viewOf),
      proposerId: naive.proposerId,
      approvers: naive.approvals.map(({ user, credential }) => ({
        user: toUser(user),
        credential: toCredential(credential),
      })),
      members: () => naive.members.map(toUser),
      nowMs: naive.now.getTime(),
    },
  };
}

const views = new WeakMap<object, ConditionFacts>();

/** Made once for each world. */
function viewOf(world: NaiveQuestion["views"][number]): ConditionFacts {
  const view = views.get(world) ?? toConditionFacts(world);
  views.set(world, view);
  return view;
}

function compiledOrUndefined(text: NaiveQuestion["policies"][number]): CompiledPolicy | undefined {
  try {
    return compilePolicy(text);
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return undefined;
    throw error;
  }
}

function shown({ policies, approvals, members, proposerId, now }: NaiveQuestion): string {
  const people = {
    proposerId,
    approvals: approvals.map(({ user, credential }) => [user.id, credential.id]),
    members,
    now,
  };
  return JSON.stringify({ policies, ...people }, null, 1);
}

/** What the decision is explained with must be what it was made from. */
function checkExplanations(naive: NaiveQuestion, real: PolicyQuestion, decision: PolicyDecision): void {
  const explanations = explain(real, decision);
  assert.equal(explanations.length, decision.evaluations.length);
  for (const [i, { outcome, expression, clause, start, end, observed, reason }] of explanations.entries()) {
    assert.equal(outcome, decision.evaluations[i]?.outcome);
    const source = expression === undefined ? undefined : (naive.policies[i]?.[expression] ?? "");
    if (clause !== undefined) {
      const whole = source?.slice(start, end) ?? "";
      assert.equal(whole.length > 400 ? `${whole.slice(0, 399)}…` : whole, clause);
    }
    assert.ok(Object.keys(observed).length <= 16 && Object.values(observed).every((text) => text.length <= 200));
    const isOpen = outcome === "OUTCOME_ALLOW" && real.policies[i]?.policy.isOpen === true;
    assert.equal(outcome === "OUTCOME_ERROR" || isOpen, reason !== undefined);
    if (outcome === "OUTCOME_REQUIRES_CONSENSUS") assert.equal(expression, "consensus");
    if (outcome === "OUTCOME_TIME_INACTIVE") assert.equal(expression, "time");
  }
}

/** The last entry of an expression is the whole of it, unless that is a literal. */
function checkTrace(
  text: NaiveQuestion["policies"][number],
  policy: CompiledPolicy,
  real: PolicyQuestion,
  view: number,
): void {
  const facts = real.views[view] ?? assert.fail();
  const entries = trace(policy, facts, real.approvers, real.nowMs);
  const scope = new Scope(facts, voicesOf(real.approvers), real.nowMs);
  for (const kind of ["consensus", "condition", "time"] as const) {
    const last = entries.findLast(({ expression }) => expression === kind);
    if (last === undefined || entries.length === 2_000) continue;
    const value = policy[kind].evaluate(scope);
    // The part has its value; only as a whole it should have been something else.
    if (value instanceof EvaluationError && value.message.endsWith("not a bool")) continue;
    const found = "error" in last ? last.error : last.value;
    assert.equal(found, value instanceof EvaluationError ? value.message : `${value}`, text[kind]);
  }
}

test(`${rounds} decisions: a second implementation finds the same outcomes, verdict and voters, and they are explained`, (t) => {
  const seed = chosenSeed();
  const generator = generatorOf(seeded(seed));
  const traces = Error.stackTraceLimit;
  // The second evaluator throws where there is no value, and stacks would take most of its time.
  Error.stackTraceLimit = 0;
  t.after(() => {
    Error.stackTraceLimit = traces;
  });
  const counts: Record<string, number> = {};
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  let worlds: readonly World[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 50 === 0) worlds = Array.from({ length: 8 }, () => conditionWorld(generator.chance, 3));
    const { naive, real } = acceptedQuestion(generator, worlds);
    const { verdict, view, evaluations } = decidePolicies(real);
    const found = {
      verdict,
      view,
      evaluations: evaluations.map(({ outcome, denies }) => ({ outcome, denies })),
      voters: ["A", "C", "Z"].filter((id) => isEligible(real, id)),
    };
    const expected = { ...naiveDecide(naive), voters: ["A", "C", "Z"].filter((id) => naiveIsEligible(naive, id)) };
    if (!isDeepStrictEqual(found, expected)) {
      assert.deepEqual(found, expected, `seed ${seed}, round ${round}: ${shown(naive)}`);
    }
    checkExplanations(naive, real, { verdict, view, evaluations });
    for (const [i, { policy }] of real.policies.entries()) {
      if (round % 10 === 0) checkTrace(naive.policies[i] ?? assert.fail(), policy, real, view);
    }
    count(verdict);
    for (const { outcome } of evaluations) count(outcome);
    if (found.voters.length > 0) count("voters");
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`);
  const reached = ["allow", "deny", "consensus", "none", "voters", "OUTCOME_TIME_INACTIVE", "OUTCOME_ERROR"];
  for (const what of reached) assert.ok((counts[what] ?? 0) > rounds / 200, `${what} is hardly reached`);
});

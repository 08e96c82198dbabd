import { setImmediate as breath } from "node:timers/promises";
import { Fault } from "@keystead/core/fault.ts";
import { TraceBounds, trace } from "@keystead/core/policy/decision/trace.ts";
import { interfacesOf } from "@keystead/core/policy/facts/condition_views.ts";
import { activityKinds, kindOf } from "@keystead/core/policy/vocabulary/activity_kinds.ts";
import { mapWithPauses, type Work } from "@keystead/core/work.ts";
import type { ActivityForm, AnyActivity } from "../endpoints/define_activity.ts";
import { type Caller, defineQuery } from "../endpoints/define_query.ts";
import { explainMismatch } from "../endpoints/explain_schema.ts";
import { noSuchOrganization } from "../endpoints/known_faults.ts";
import { optional } from "../fields/credentials.ts";
import { id, organizationId } from "../fields/ids.ts";
import { type Static, Type } from "../fields/schema.ts";
import { policyDrafts, scenario, simulationResult } from "../fields/simulation.ts";
import { activityForms } from "../generated/activities.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { askingPolicies, type Decision, findingApprovers, nothingWeighed, type Question } from "../rules/authorise.ts";
import { compilingPolicies } from "../rules/policies.ts";
import {
  approvalOf,
  type CheckedDrafts,
  checkDrafts,
  decidingSupposed,
  withDrafts,
  withScenario,
  withUsers,
} from "../rules/simulation.ts";
import { finishWithBreaths } from "../store/breaths.ts";
import { inSnapshot } from "../store/snapshot.ts";
import type { Store } from "../store/store.ts";
import { readDecisionPages, readSources } from "../views/decision_sources.ts";

const simulationRequest = Type.Object({
  organizationId,
  activity: Type.Object({
    type: Type.String({ maxLength: 200, description: "Type of the activity." }),
    parameters: Type.Unknown({ description: "Its parameters, as its endpoint takes them." }),
  }),
  proposerId: optional(id),
  approverIds: optional(
    Type.Array(id, {
      maxItems: 1_000,
      description: "Who has approved; the proposer alone when left out. Who has no vote does not count.",
    }),
  ),
  timeMs: optional(
    Type.String({ pattern: "^[0-9]{1,15}$", description: "When; now when left out. Milliseconds, as a string." }),
  ),
  policies: optional(policyDrafts),
  scenario: optional(scenario),
});

/**
 * What would become of an activity: the decision that the signer would take, by the same code, and why. Nothing is created, and
 * nothing is signed. With drafts it tells what other policies would do; with a scenario, for people and keys that are not there.
 */
export const simulateActivity = defineQuery({
  path: "simulate_activity",
  summary: "Tell what would become of an activity, and why, without doing it",
  request: simulationRequest,
  response: simulationResult,
  async run(store, caller, request) {
    // Whoever holds a snapshot of SQLite keeps others from committing, and drafts and decisions take their time.
    const drafts = await checkDrafts(request.policies ?? {}, breath);
    const question = await inSnapshot(store, (snapshot) => readQuestion(snapshot, caller, request, drafts));
    // A decision may weigh a transaction of a hundred inputs under as many policies.
    return finishWithBreaths(simulating(question));
  },
});

function* simulating(question: Question): Work<Static<typeof simulationResult>> {
  yield* compilingPolicies(question.pages.policies);
  return yield* answering(...(yield* decidingSupposed(question)));
}

async function readQuestion(
  store: Store,
  caller: Caller,
  request: Static<typeof simulationRequest>,
  drafts: CheckedDrafts,
): Promise<Question> {
  const stored = await readDecisionPages(store, request.organizationId);
  if (stored === undefined) throw noSuchOrganization();
  const scenario = request.scenario ?? {};
  const { form, params } = readIntent(request.activity);
  const sources = await readSources(store, request.organizationId, stored, form, params);
  const supposed = withScenario(sources, request.organizationId, scenario);
  const nowMs = request.timeMs ? Number(request.timeMs) : Date.now();
  const members = withUsers(stored.members, scenario);
  const proposerId = request.proposerId ?? caller.userId;
  const approverIds = [...new Set(request.approverIds ?? [proposerId])];
  for (const userId of [proposerId, ...approverIds]) {
    if (!members.users.has(userId)) throw new Fault("invalid_argument", `no user \`${userId}\` in this organization`);
  }
  const pages = { ...stored, ...supposed.pages, members, policies: withDrafts(stored.policies, drafts) };
  return {
    ...supposed,
    pages,
    form,
    params,
    proposerId,
    approvals: approverIds.map((userId) => approvalOf({ pages, nowMs }, userId)),
    isWaiting: false,
    nowMs,
  };
}

/** What is asked for, in the newest form. Kinds of activities that have no endpoint yet are decided by their type and parameters. */
function readIntent({ type, parameters }: { type: string; parameters: unknown }): {
  form: ActivityForm;
  params: unknown;
} {
  const form = activityForms.get(type);
  if (form !== undefined) {
    if (activityValidators[form.type]?.(parameters) !== true) {
      throw explainMismatch(form.params, parameters, "activity.parameters");
    }
    if (form.activity.vote !== undefined) {
      throw new Fault(
        "invalid_argument",
        "a vote cannot be simulated; simulate its activity and list the voters in `approverIds`",
      );
    }
    const params = form.translate(parameters);
    // The root quorum may approve what cannot be read; it would fail all the same.
    interfacesOf({ type, params: params as Readonly<Record<string, unknown>> });
    return { form, params };
  }
  if (activityKinds[kindOf(type)] === undefined) {
    throw new Fault("invalid_argument", `Invalid activity type: \`${type}\``);
  }
  if (typeof parameters !== "object" || parameters === null) {
    throw new Fault("invalid_argument", "invalid request body: field `activity.parameters` must be an object");
  }
  return { form: { ...unbuilt, type }, params: parameters };
}

/** By what all that sign have in common. */
const unbuilt: Omit<ActivityForm, "type"> = {
  intentKey: "",
  resultKey: "",
  params: Type.Object({}),
  translate: (parameters) => parameters,
  answer: (result) => result,
  // Nothing of it runs here, so it needs nothing but what a decision asks for.
  activity: {
    records: (params: SigningParams) => signerOf(params),
    policySubject: (params: SigningParams) => signerOf(params)[0],
  } as unknown as AnyActivity,
};

type SigningParams = { signWith?: unknown; from?: unknown };

/** Transactions that are sent as well name their signer as `from`. */
function signerOf({ signWith, from }: SigningParams): { by: "signWith"; signWith: string }[] {
  const name = signWith ?? from;
  return typeof name === "string" ? [{ by: "signWith", signWith: name }] : [];
}

function* answering(question: Question, decision: Decision): Work<Static<typeof simulationResult>> {
  if (decision.kind === "fail") throw decision.fault;
  const { pages, approvals } = question;
  const { evaluations, explanations, view } = decision.weighed ?? nothingWeighed;
  const has = new Set(approvals.map(({ userId }) => userId));
  const others = [...pages.members.users.keys()].filter((userId) => !has.has(userId));
  return {
    decision: decisions[decision.kind],
    grounds: decision.kind === "allow" ? decision.grounds : "NONE",
    message: messageOf(decision),
    policyEvaluations: evaluations.map(({ policyId, outcome }) => ({
      policyId,
      policyName: pages.policies.get(policyId)?.policyName ?? "",
      outcome,
    })),
    explanations: [...explanations],
    traces: evaluations.length === 0 ? [] : yield* tracing(question, view),
    eligibleUserIds:
      decision.kind === "consensus" ? yield* findingApprovers({ ...question, isWaiting: true }, others) : [],
  };
}

function* tracing(question: Question, view: number): Work<Static<typeof simulationResult>["traces"]> {
  const asked = yield* askingPolicies(question, question.approvals);
  const facts = asked instanceof Fault ? undefined : asked?.views[view];
  if (asked === undefined || asked instanceof Fault || facts === undefined) return [];
  const { policies, approvers, nowMs } = asked;
  const bounds = new TraceBounds();
  return yield* mapWithPauses(policies, ({ policyId, policy }) => {
    return { policyId, entries: [...trace(policy, facts, approvers, nowMs, bounds)] };
  });
}

const decisions = {
  allow: "DECISION_ALLOW",
  refuse: "DECISION_DENY",
  consensus: "DECISION_CONSENSUS_NEEDED",
} as const;

function messageOf(decision: Exclude<Decision, { kind: "fail" }>): string {
  if (decision.kind === "consensus") return "more approvals are needed";
  if (decision.kind === "allow") return `it would run, on the grounds of ${decision.grounds}`;
  const [detail] = decision.fault.details as readonly { message: string }[];
  return detail?.message ?? decision.fault.message;
}

/** Policies as requests write them and as answers show them. */
import { outcomes } from "../state/policy_evaluations.ts";
import { component } from "./component.ts";
import { optional } from "./credentials.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

export const effect = Type.Enum(["EFFECT_ALLOW", "EFFECT_DENY"], {
  description: "Whether what the policy applies to is allowed or denied.",
});

export const policyName = name("Human-readable name of the policy.");

/** Longer than any that the language takes: how long one may be is the language's to say, with its own words. */
function expression(description: string) {
  return Type.String({ maxLength: 65_536, description });
}

export const consensus = expression("Who must approve: an expression over approvers and credentials.");
export const condition = expression("What the policy is about: an expression over the activity and its payload.");
export const time = expression("When the policy holds: an expression over the time.");

export const notes = Type.String({ maxLength: 4_096, description: "Notes for people." });

/** What is absent or empty says nothing: a policy without expressions applies to everything. */
export const policyParams = Type.Object({
  policyName,
  effect,
  condition: optional(condition),
  consensus: optional(consensus),
  time: optional(time),
  notes: optional(notes),
});

export type PolicyParams = Static<typeof policyParams>;

const text = (description: string) => Type.String({ description });

export const policyRecord = Type.Object(
  {
    policyId: text("Unique identifier of the policy."),
    policyName: text("Human-readable name of the policy."),
    effect,
    consensus: text("Who must approve, as it was written; empty when anybody may."),
    condition: text("What the policy is about, as it was written; empty when it is everything."),
    time: text("When the policy holds, as it was written; empty when always."),
    notes: text("Notes for people."),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "A rule about who may do what, and when." },
);

export const policy = component<Static<typeof policyRecord>>("Policy");

export const policyExplanationRecord = Type.Object(
  {
    policyId: text("The policy."),
    outcome: Type.Enum([...outcomes], { description: "What it came to." }),
    expression: Type.Optional(
      Type.Enum(["consensus", "condition", "time"], { description: "The expression that settled it." }),
    ),
    clause: Type.Optional(text("The part of that expression that settled it, as written.")),
    start: Type.Optional(Type.Integer({ description: "Where the clause begins in the expression." })),
    end: Type.Optional(Type.Integer({ description: "Where it ends." })),
    observed: Type.Record(Type.String(), Type.String(), { description: "What the names in the clause stood for." }),
    reason: Type.Optional(text("Why the policy could not be evaluated, or did not apply.")),
  },
  { description: "Why a policy came to its outcome." },
);

export const policyEvaluationRecord = Type.Object(
  {
    id: text("Unique identifier of the evaluation."),
    activityId: text("The activity that was voted on."),
    organizationId: text("The organization the activity runs in."),
    voteId: text("The vote that led to the evaluation."),
    policyEvaluations: Type.Array(Type.Object({ policyId: text("The policy."), outcome: Type.Enum([...outcomes]) }), {
      description: "Every policy of that moment with its outcome; empty when the root quorum decided.",
    }),
    createdAt: timestamp,
    details: Type.Array(component<Static<typeof policyExplanationRecord>>("PolicyExplanation"), {
      description: "Why each policy came to its outcome.",
    }),
  },
  { description: "What the policies said about one vote." },
);

export const policyEvaluation = component<Static<typeof policyEvaluationRecord>>("PolicyEvaluation");

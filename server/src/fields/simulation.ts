/** What a simulation is asked, and what it answers. The scenario's fields are those of policy test-case files. */
import { curveNames } from "@keystead/core/keys/key_curves.ts";
import { optional } from "./credentials.ts";
import { id } from "./ids.ts";
import { type Static, Type } from "./schema.ts";
import { addressFormat } from "./wallets.ts";

const text = (description: string, maxLength = 1_000) => Type.String({ maxLength, description });
const flag = (description: string) => optional(Type.Boolean({ description }));
const effect = Type.Enum(["EFFECT_ALLOW", "EFFECT_DENY"], { description: "Whether it allows or denies." });
/** Longer ones are refused by the language itself, with its own message. */
const expression = (description: string) => optional(Type.String({ maxLength: 100_000, description }));

const draft = {
  effect,
  condition: expression("What it is about; everything when left out."),
  consensus: expression("Who must approve; anybody when left out."),
  time: expression("When it applies; always when left out."),
};

const added = Type.Object({ policyName: text("Human-readable name of the policy."), ...draft });
const replaced = Type.Object({ policyId: id, ...draft });

export type DraftPolicy = Static<typeof added>;

export const policyDrafts = Type.Object({
  add: optional(Type.Array(added, { maxItems: 1_000, description: "Policies as if they were there." })),
  replace: optional(Type.Array(replaced, { maxItems: 1_000, description: "Policies as if they said this instead." })),
  remove: optional(Type.Array(id, { maxItems: 1_000, description: "Policies as if they were not there." })),
});

export type PolicyDrafts = Static<typeof policyDrafts>;

const curve = Type.Enum([...curveNames], { description: "Curve of the key." });
const publicKey = text("Public key, in hex.");
const used = { imported: flag("Whether it came from outside."), exported: flag("Whether it has been exported.") };

const scenarioUser = Type.Object({
  userId: id,
  userName: text("Human-readable name of the user."),
  userEmail: optional(text("E-mail address of the user.")),
  userTags: optional(Type.Array(id, { maxItems: 1_000 })),
  apiKeys: optional(
    Type.Array(
      Type.Object({ apiKeyId: id, publicKey: text("Public key, in hex."), type: text("`CREDENTIAL_TYPE_…`.") }),
      { maxItems: 100, description: "The first is the one the user approves with." },
    ),
  ),
});

const scenarioKey = Type.Object({
  walletId: optional(id),
  walletName: optional(text("Human-readable name of the wallet.")),
  path: optional(text("Path of the account.")),
  privateKeyId: optional(id),
  privateKeyName: optional(text("Human-readable name of the private key.")),
  tags: optional(Type.Array(id, { maxItems: 1_000 })),
  address: optional(text("Address of the account or private key.")),
  addressFormat: optional(addressFormat),
  curve,
  publicKey,
  ...used,
});

export type ScenarioKey = Static<typeof scenarioKey>;

const scenarioInterface = Type.Object({
  smartContractAddress: text("Address of the contract or program."),
  type: Type.Enum(["ETHEREUM", "SOLANA"], { description: "What kind of interface it is." }),
  smartContractInterface: Type.String({ maxLength: 1024 * 1024, description: "ABI or IDL, as JSON text." }),
});

/** As if these were in the organization, beside what is there. */
export const scenario = Type.Object({
  users: optional(Type.Array(scenarioUser, { maxItems: 1_000 })),
  keys: optional(Type.Array(scenarioKey, { maxItems: 1_000, description: "Wallet accounts and private keys." })),
  interfaces: optional(Type.Array(scenarioInterface, { maxItems: 100 })),
});

export type Scenario = Static<typeof scenario>;

const outcome = text("What the policy came to: `OUTCOME_…`.");

export const policyExplanation = Type.Object({
  policyId: text("Unique identifier of the policy."),
  outcome,
  expression: Type.Optional(text("Which of its expressions settled it.")),
  clause: Type.Optional(text("The clause that settled it, as written.", 100_000)),
  start: Type.Optional(Type.Number({ description: "Where the clause begins in the expression." })),
  end: Type.Optional(Type.Number({ description: "Where it ends." })),
  observed: Type.Record(Type.String(), Type.String(), { description: "What the names in the clause were." }),
  reason: Type.Optional(text("Why there is no value, or why the policy does not apply.")),
});

const traceEntry = Type.Object({
  expression: text("`condition`, `consensus` or `time`."),
  text: text("The sub-expression as written.", 100_000),
  start: Type.Number(),
  end: Type.Number(),
  value: Type.Optional(text("What it came to.", 100_000)),
  error: Type.Optional(text("Why it has no value.", 100_000)),
});

export const simulationResult = Type.Object({
  decision: Type.Enum(["DECISION_ALLOW", "DECISION_DENY", "DECISION_CONSENSUS_NEEDED"], {
    description: "What would become of the activity.",
  }),
  grounds: text("Why it would run: `ROOT_QUORUM`, `POLICY`, `OWN_CREDENTIAL`, or `NONE`."),
  message: text("The decision in a sentence.", 100_000),
  policyEvaluations: Type.Array(
    Type.Object({ policyId: text("Unique identifier of the policy."), policyName: text("Its name."), outcome }),
    { description: "Empty when policies are not asked, as for the root quorum." },
  ),
  explanations: Type.Array(policyExplanation),
  traces: Type.Array(
    Type.Object({ policyId: text("Unique identifier of the policy."), entries: Type.Array(traceEntry) }),
  ),
  eligibleUserIds: Type.Array(Type.String(), { description: "Whose approval would count next." }),
});

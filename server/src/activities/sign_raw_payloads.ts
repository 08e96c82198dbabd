import { costOfPayloads } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { Type } from "../fields/schema.ts";
import { payload, payloadChoices, signature, signWith } from "../fields/signing.ts";
import { signPayloads } from "../rules/signing.ts";

/** Signs payloads of one kind with one account or private key: all of them in their order, or none. */
export const signRawPayloads = defineActivity({
  path: "sign_raw_payloads",
  type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS",
  intentKey: "signRawPayloadsIntent",
  resultKey: "signRawPayloadsResult",
  summary: "Sign several raw payloads",
  params: Type.Object({
    signWith,
    payloads: Type.Array(payload, { minItems: 1, maxItems: 1_000 }),
    ...payloadChoices,
  }),
  result: Type.Object({ signatures: Type.Array(signature) }),
  pure: true,
  sealed: true,
  records: ({ signWith }) => [{ by: "signWith", signWith }],
  cost: ({ payloads, encoding }) => costOfPayloads(payloads, encoding),
  state: () => undefined,
  policySubject: ({ signWith }) => ({ by: "signWith", signWith }),
  *run(_, { signWith, payloads, ...choices }, context) {
    return { changes: [], result: { signatures: yield* signPayloads(context, signWith, payloads, choices) } };
  },
});

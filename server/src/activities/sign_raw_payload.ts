import { costOfPayloads } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { privateKeyUuid } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { payload, payloadChoices, signature, signWith } from "../fields/signing.ts";
import { signPayloads } from "../rules/signing.ts";

const paramsV1 = Type.Object({ privateKeyId: privateKeyUuid, payload, ...payloadChoices });

/** Before wallets: only private keys signed, by their ids. An address of an account is refused: policies may tell by the type what signs. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD",
  intentKey: "signRawPayloadIntent",
  resultKey: "signRawPayloadResult",
  params: paramsV1,
  translate: ({ privateKeyId, payload, encoding, hashFunction }) => {
    return { signWith: privateKeyId, payload, encoding, hashFunction };
  },
});

/** Signs one payload with an account or private key. The address format decides how: ECDSA, Ed25519 or Schnorr. */
export const signRawPayload = defineActivity({
  path: "sign_raw_payload",
  type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
  intentKey: "signRawPayloadIntentV2",
  resultKey: "signRawPayloadResult",
  summary: "Sign a raw payload",
  params: Type.Object({ signWith, payload, ...payloadChoices }),
  result: signature,
  versions: [v1],
  pure: true,
  sealed: true,
  records: ({ signWith }) => [{ by: "signWith", signWith }],
  cost: ({ payload, encoding }) => costOfPayloads([payload], encoding),
  state: () => undefined,
  policySubject: ({ signWith }) => ({ by: "signWith", signWith }),
  *run(_, { signWith, payload, ...choices }, context) {
    const [only] = yield* signPayloads(context, signWith, [payload], choices);
    if (only === undefined) throw new Error("a payload without a signature");
    return { changes: [], result: only };
  },
});

/** What surrounds every endpoint's own fields on the wire, written once for OpenAPI and the SDK's types. */
import { activityStatuses } from "../../server/src/fields/activity.ts";
import { appProofRecord } from "../../server/src/fields/app_proofs.ts";
import { contractInterfaceRecord } from "../../server/src/fields/contract_interfaces.ts";
import { ipAllowlistRecord } from "../../server/src/fields/ip_allowlists.ts";
import { oauth2CredentialRecord } from "../../server/src/fields/oauth2_credentials.ts";
import { policyEvaluationRecord, policyExplanationRecord, policyRecord } from "../../server/src/fields/policies.ts";
import { privateKeyRecord } from "../../server/src/fields/private_keys.ts";
import { sessionProfileRecord } from "../../server/src/fields/session_profiles.ts";
import { tagRecord } from "../../server/src/fields/tag.ts";
import { timestampRecord } from "../../server/src/fields/timestamp.ts";
import {
  apiKeyRecord,
  authenticatorRecord,
  credentialRecord,
  oauthProviderRecord,
  userRecord,
} from "../../server/src/fields/user.ts";
import { walletAccountRecord, walletRecord } from "../../server/src/fields/wallets.ts";
import { type ObjectSchema, toJsonSchema } from "./json_schema.ts";

const string = (description: string) => ({ type: "string", description }) as const;
const boolean = (description: string) => ({ type: "boolean", description }) as const;
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const;

/** In the order of the documentation; all fields required unless left out of `required`. */
export const wireSchemas: Readonly<Record<string, ObjectSchema>> = {
  Timestamp: toJsonSchema(timestampRecord, "Timestamp"),
  Credential: toJsonSchema(credentialRecord, "Credential"),
  ApiKey: toJsonSchema(apiKeyRecord, "ApiKey"),
  Authenticator: toJsonSchema(authenticatorRecord, "Authenticator"),
  OauthProvider: toJsonSchema(oauthProviderRecord, "OauthProvider"),
  User: toJsonSchema(userRecord, "User"),
  Tag: toJsonSchema(tagRecord, "Tag"),
  PrivateKey: toJsonSchema(privateKeyRecord, "PrivateKey"),
  Wallet: toJsonSchema(walletRecord, "Wallet"),
  WalletAccount: toJsonSchema(walletAccountRecord, "WalletAccount"),
  Policy: toJsonSchema(policyRecord, "Policy"),
  PolicyExplanation: toJsonSchema(policyExplanationRecord, "PolicyExplanation"),
  PolicyEvaluation: toJsonSchema(policyEvaluationRecord, "PolicyEvaluation"),
  SmartContractInterface: toJsonSchema(contractInterfaceRecord, "SmartContractInterface"),
  SessionProfile: toJsonSchema(sessionProfileRecord, "SessionProfile"),
  Oauth2Credential: toJsonSchema(oauth2CredentialRecord, "Oauth2Credential"),
  IpAllowlist: toJsonSchema(ipAllowlistRecord, "IpAllowlist"),
  AppProof: toJsonSchema(appProofRecord, "AppProof"),
  Vote: {
    type: "object",
    description: "A user's approval or rejection of an activity, with the bytes and the signature that prove it.",
    required: ["id", "userId", "user", "activityId", "selection", "publicKey", "signature", "scheme", "createdAt"],
    properties: {
      id: string("Unique identifier of the vote."),
      userId: string("The voting user."),
      user: ref("User"),
      activityId: string("The activity voted on."),
      selection: { type: "string", enum: ["VOTE_SELECTION_APPROVED", "VOTE_SELECTION_REJECTED"] },
      message: string(
        "The request body that was stamped; absent until the bearer values in it have expired. Of a request through the auth proxy nothing is stamped, and it has `sha256:…` in their place until then.",
      ),
      publicKey: string("The public key of the stamp."),
      signature: string("The signature of the stamp."),
      scheme: string("The signature scheme of the stamp."),
      createdAt: ref("Timestamp"),
    },
  },
  Failure: {
    type: "object",
    description: "Why an activity failed.",
    required: ["code", "message", "details"],
    properties: {
      code: { type: "integer", description: "gRPC status code." },
      message: string("What went wrong."),
      details: { type: "array", items: { type: "object", properties: {}, additionalProperties: true } },
    },
  },
  Activity: {
    type: "object",
    description: "The record of one state-changing request.",
    required: [
      "id",
      "organizationId",
      "status",
      "type",
      "intent",
      "result",
      "votes",
      "fingerprint",
      "canApprove",
      "canReject",
      "createdAt",
      "updatedAt",
    ],
    properties: {
      id: string("Unique identifier of the activity."),
      organizationId: string("The organization the activity ran in."),
      status: { type: "string", enum: activityStatuses },
      type: string("The activity type that was sent, with its version."),
      intent: {
        type: "object",
        description: "One key, named per endpoint, that echoes the parameters.",
        properties: {},
        additionalProperties: true,
      },
      result: {
        type: "object",
        description: "One key, named per endpoint, with the result fields; empty until the activity is completed.",
        properties: {},
        additionalProperties: true,
      },
      votes: { type: "array", items: ref("Vote") },
      appProofs: { type: "array", items: ref("AppProof") },
      fingerprint: string("`sha256:` and the hash of the request body: the same bytes are the same activity."),
      canApprove: boolean("Whether the activity can be approved now."),
      canReject: boolean("Whether the activity can be rejected now."),
      createdAt: { type: "string", format: "date-time", description: "RFC 3339, UTC." },
      updatedAt: { type: "string", format: "date-time", description: "RFC 3339, UTC." },
      failure: ref("Failure"),
    },
  },
  ErrorBody: {
    type: "object",
    description: "The body of every answer that is not 200.",
    required: ["code", "message", "details", "errorCode"],
    properties: {
      code: { type: "integer", description: "gRPC status code." },
      message: string("What went wrong."),
      details: { type: "array", items: { type: "object", properties: {}, additionalProperties: true } },
      errorCode: string("Stable name of this failure, or empty."),
    },
  },
};

/** The body of a submit. `parameters` is the endpoint's own. */
export function activityRequest(type: string, parametersSchema: string): ObjectSchema {
  return {
    type: "object",
    required: ["type", "timestampMs", "organizationId", "parameters"],
    properties: {
      type: { type: "string", const: type },
      timestampMs: {
        type: "string",
        pattern: "^[0-9]+$",
        description: "Time of the request in milliseconds since the epoch.",
      },
      organizationId: string("The organization the activity runs in."),
      parameters: ref(parametersSchema),
      generateAppProofs: boolean("Whether to generate and return app proofs."),
    },
  };
}

/** The answer to a submit: an activity whose intent and result hold the endpoint's keys. */
export function activityResponse(
  { type, intentKey, resultKey }: { type: string; intentKey: string; resultKey: string },
  parametersSchema: string,
  resultSchema: string,
): ObjectSchema {
  // A vote answers with the activity it was cast on, whatever that is.
  if (resultKey === "") return { type: "object", required: ["activity"], properties: { activity: ref("Activity") } };
  return {
    type: "object",
    required: ["activity"],
    properties: {
      activity: {
        allOf: [
          ref("Activity"),
          {
            type: "object",
            properties: {
              type: { type: "string", const: type },
              intent: { type: "object", required: [intentKey], properties: { [intentKey]: ref(parametersSchema) } },
              result: { type: "object", properties: { [resultKey]: ref(resultSchema) } },
            },
          },
        ],
      },
    },
  };
}

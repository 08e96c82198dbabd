/**
 * Test cases for policies, as people write them down: who is there, which keys and contract interfaces, which policies, and
 * for each case an activity with what must become of it. Identifiers and fields are those of the wire, so that answers of
 * the server can be pasted in.
 */
import {
  flag,
  listOf,
  mapOf,
  misshapen,
  objectAt,
  optional,
  record,
  type Shape,
  text,
  wordOf,
} from "../../encoding/json_shape.ts";
import type { Outcome } from "../decision/decide.ts";
import { parseTimestamp } from "../time/timestamp_literal.ts";
import { activityKinds, kindOf } from "../vocabulary/activity_kinds.ts";

const effect = wordOf(["EFFECT_ALLOW", "EFFECT_DENY"]);
const verdicts = ["allow", "deny", "consensus"] as const;
export type CaseVerdict = (typeof verdicts)[number];

const outcomes = [
  "OUTCOME_ALLOW",
  "OUTCOME_DENY_EXPLICIT",
  "OUTCOME_DENY_IMPLICIT",
  "OUTCOME_REQUIRES_CONSENSUS",
  "OUTCOME_REJECTED",
  "OUTCOME_ERROR",
  "OUTCOME_TIME_INACTIVE",
  "OUTCOME_REQUIRES_AUTHENTICATORS",
] as const satisfies readonly Outcome[];

const policy = record({
  policyName: text,
  effect,
  consensus: optional(text),
  condition: optional(text),
  time: optional(text),
  notes: optional(text),
});
/** In the field names of create_policy; an expression that is left out is true. */
export type WrittenPolicy = ReturnType<typeof policy>;

const user = record({
  userId: text,
  userName: text,
  userEmail: optional(text),
  userTags: optional(listOf(text)),
  apiKeys: optional(listOf(record({ apiKeyId: text, publicKey: text, type: text }))),
  authenticators: optional(listOf(record({ authenticatorId: text, credentialId: text, publicKey: text }))),
});
export type CaseUser = ReturnType<typeof user>;

const used = { imported: optional(flag), exported: optional(flag) };

const walletAccount = record({
  walletId: text,
  walletName: text,
  ...used,
  address: text,
  addressFormat: text,
  path: text,
  curve: text,
  publicKey: text,
});

const privateKey = record({
  privateKeyId: text,
  privateKeyName: text,
  tags: optional(listOf(text)),
  ...used,
  addressFormat: optional(text),
  address: optional(text),
  curve: text,
  publicKey: text,
});

export type CaseAccount = ReturnType<typeof walletAccount>;
export type CasePrivateKey = ReturnType<typeof privateKey>;
export type CaseKey = CaseAccount | CasePrivateKey;

const key: Shape<CaseKey> = (value, path) =>
  Object.hasOwn(objectAt(value, path), "privateKeyId") ? privateKey(value, path) : walletAccount(value, path);

/** The JSON of an ABI or IDL, as text as on the wire or as it is. */
const interfaceText: Shape<string> = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const contractInterface = record({
  smartContractAddress: text,
  type: wordOf(["ETHEREUM", "SOLANA"]),
  smartContractInterface: interfaceText,
});

const secret = record({ secretId: text, staticProperties: mapOf(text) });

const instant: Shape<string> = (value, path) => {
  const written = text(value, path);
  try {
    parseTimestamp(written);
  } catch (cause) {
    throw misshapen(path, cause instanceof Error ? cause.message : "not a moment");
  }
  return written;
};

const approver: Shape<CaseApprover> = (value, path) =>
  typeof value === "string" ? { userId: value } : record({ userId: text, credentialId: text })(value, path);

/** `credentialId` is the id of the API key or authenticator; without it the user's first is taken. */
export type CaseApprover = { readonly userId: string; readonly credentialId?: string };

const parameters: Shape<Readonly<Record<string, unknown>>> = objectAt;

/** What belongs to the root quorum, votes, and what has no member yet. */
export const beyondPolicies: readonly string[] = [
  "UPDATE_ROOT_QUORUM",
  "SET_ORGANIZATION_FEATURE",
  "REMOVE_ORGANIZATION_FEATURE",
  "UPDATE_ORGANIZATION_NAME",
  "APPROVE_ACTIVITY",
  "REJECT_ACTIVITY",
  "CREATE_ORGANIZATION",
  "ACCEPT_INVITATION",
];

/** A type that is misspelt would be refused too, and a case that expects a refusal would pass for the wrong reason. */
const activityType: Shape<string> = (value, path) => {
  const type = text(value, path);
  const kind = kindOf(type);
  const isKnown = activityKinds[kind] !== undefined || beyondPolicies.includes(kind);
  if (!type.startsWith("ACTIVITY_TYPE_") || !isKnown) throw misshapen(path, `there is no activity \`${type}\``);
  return type;
};

const policyCase = record({
  name: text,
  policies: optional(listOf(policy)),
  activity: record({ type: activityType, parameters }),
  proposer: text,
  approvers: optional(listOf(approver)),
  now: optional(instant),
  expect: wordOf(verdicts),
  outcomes: optional(mapOf(wordOf(outcomes))),
});
/** One activity, and what must become of it. */
export type PolicyCase = ReturnType<typeof policyCase>;

const caseFile = record({
  users: listOf(user),
  keys: optional(listOf(key)),
  interfaces: optional(listOf(contractInterface)),
  secrets: optional(listOf(secret)),
  policies: optional(listOf(policy)),
  cases: listOf(policyCase),
});
export type PolicyCaseFile = ReturnType<typeof caseFile>;

/** Reads a case file, or refuses it with the way to what is wrong. */
export function parseCases(json: unknown): PolicyCaseFile {
  const file = caseFile(json, "");
  refuseRepeated(file.users, ({ userId }) => userId, "users", "userId");
  refuseRepeated(file.policies ?? [], ({ policyName }) => policyName, "policies", "policyName");
  for (const [i, one] of file.cases.entries()) checkCase(file, one, `cases[${i}]`);
  return file;
}

function checkCase(file: PolicyCaseFile, one: PolicyCase, path: string): void {
  const userIds = new Set(file.users.map(({ userId }) => userId));
  if (!userIds.has(one.proposer)) throw misshapen(`${path}.proposer`, `no user has the id \`${one.proposer}\``);
  for (const [i, { userId, credentialId }] of (one.approvers ?? []).entries()) {
    const at = `${path}.approvers[${i}]`;
    const approving = file.users.find((known) => known.userId === userId);
    if (approving === undefined) throw misshapen(at, `no user has the id \`${userId}\``);
    if (credentialId !== undefined && !credentialIdsOf(approving).includes(credentialId)) {
      throw misshapen(at, `this user has no credential \`${credentialId}\``);
    }
  }
  // A user approves once, whatever it stamps with.
  refuseRepeated(one.approvers ?? [], ({ userId }) => userId, `${path}.approvers`, "userId");
  const policies = one.policies ?? file.policies;
  if (policies === undefined) throw misshapen(`${path}.policies`, "missing here and in the file");
  refuseRepeated(policies, ({ policyName }) => policyName, `${path}.policies`, "policyName");
  const names = new Set(policies.map(({ policyName }) => policyName));
  for (const name of Object.keys(one.outcomes ?? {})) {
    if (!names.has(name)) throw misshapen(`${path}.outcomes`, `no policy is called \`${name}\``);
  }
  const timed = policies.find(({ time = "" }) => time !== "");
  if (timed !== undefined && one.now === undefined) {
    throw misshapen(`${path}.now`, `missing, and the policy \`${timed.policyName}\` depends on the time`);
  }
}

function credentialIdsOf({ apiKeys = [], authenticators = [] }: CaseUser): string[] {
  return [...apiKeys.map(({ apiKeyId }) => apiKeyId), ...authenticators.map(({ authenticatorId }) => authenticatorId)];
}

function refuseRepeated<T>(items: readonly T[], nameOf: (item: T) => string, path: string, field: string): void {
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    const name = nameOf(item);
    if (seen.has(name)) throw misshapen(`${path}[${i}].${field}`, `\`${name}\` a second time`);
    seen.add(name);
  }
}

const policies = listOf(policy);

/** Reads a policy file: a list of policies, or an object that has one as `policies`. */
export function parsePolicies(json: unknown): readonly WrittenPolicy[] {
  const isList = Array.isArray(json);
  const list = isList ? policies(json, "") : record({ policies })(json, "").policies;
  refuseRepeated(list, ({ policyName }) => policyName, isList ? "" : "policies", "policyName");
  return list;
}

/** An organization as it would be: with other policies, and with people, keys and contracts that are not there. */
import { Fault } from "@keystead/core/fault.ts";
import { type ParsedInterface, parseInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import type { Work } from "@keystead/core/work.ts";
import type { DraftPolicy, PolicyDrafts, Scenario, ScenarioKey } from "../fields/simulation.ts";
import { credentialsOf, isRecoveryKey } from "../state/credentials.ts";
import type { Approval, KeyFacts, Policy, User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import type { Pages, PoliciesPage } from "../state/pages.ts";
import type { KeyRecord, PrivateKeyRecord, WalletAccountRecord, WalletRecord } from "../state/records.ts";
import type { FactSources } from "./activity_facts.ts";
import { authorising, type Decision, findingApprovers, type Question } from "./authorise.ts";
import { withExpressionsOf } from "./policies.ts";
import { checkedPolicy, refuseTakenPolicyNames } from "./policy_changes.ts";

const never = { createdAtMs: 0, updatedAtMs: 0 };

/** Drafts with expressions that can be evaluated. Those that replace a policy have no names of their own. */
export type CheckedDrafts = { add: readonly Policy[]; replace: readonly Policy[]; remove: readonly string[] };

/** Expressions are checked as if they were created, with a breath after each, so that others need not wait for all of them. */
export async function checkDrafts(
  { add, replace, remove }: PolicyDrafts,
  breath: () => Promise<void>,
): Promise<CheckedDrafts> {
  refuseLongDrafts([...(replace ?? []), ...(add ?? [])]);
  const checked = { add: [] as Policy[], replace: [] as Policy[], remove: remove ?? [] };
  const unnamed = { policyName: "", notes: "", ...never };
  for (const draft of replace ?? []) {
    checked.replace.push(checkedPolicy({ ...unnamed, policyId: draft.policyId, ...expressionsOf(draft) }));
    await breath();
  }
  for (const [index, draft] of (add ?? []).entries()) {
    const names = { ...unnamed, policyId: draftId(index), policyName: draft.policyName };
    checked.add.push(checkedPolicy({ ...names, ...expressionsOf(draft) }));
    await breath();
  }
  return checked;
}

/** The policies with drafts among them. Names are checked as if they were created; limits are not. */
export function withDrafts(page: PoliciesPage, { add, replace, remove }: CheckedDrafts): PoliciesPage {
  const policies = new Map(page);
  for (const policyId of remove) {
    if (!policies.delete(policyId)) throw noSuchPolicy(policyId);
  }
  for (const draft of replace) {
    const before = policies.get(draft.policyId);
    if (before === undefined) throw noSuchPolicy(draft.policyId);
    policies.set(draft.policyId, withExpressionsOf(before, draft));
  }
  refuseTakenPolicyNames(
    policies,
    add.map(({ policyName }) => policyName),
  );
  for (const draft of add) policies.set(draft.policyId, draft);
  return policies;
}

/** Nobody keeps them, so each question compiles them all anew. */
const maxDraftCharacters = 128 * 1024;

function refuseLongDrafts(drafts: readonly Omit<DraftPolicy, "policyName">[]): void {
  const together = drafts.map(expressionsOf).reduce((sum, { condition, consensus, time }) => {
    return sum + condition.length + consensus.length + time.length;
  }, 0);
  if (together <= maxDraftCharacters) return;
  const words = `policies: drafts with ${together} characters together, where ${maxDraftCharacters} are taken`;
  throw new Fault("invalid_argument", `${words}; ask about fewer at once`);
}

/** Told from those that are there, and in the order they were given. */
function draftId(index: number): string {
  return `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}`;
}

function expressionsOf({
  effect,
  condition,
  consensus,
  time,
}: Omit<DraftPolicy, "policyName">): Pick<Policy, "effect" | "condition" | "consensus" | "time"> {
  return { effect, condition: condition ?? "", consensus: consensus ?? "", time: time ?? "" };
}

function noSuchPolicy(policyId: string): Fault {
  return new Fault("invalid_argument", `policies: no policy \`${policyId}\` in this organization`);
}

/** Everybody, and the scenario's people. */
export function withUsers(page: MembersPage, { users }: Scenario): MembersPage {
  if (users === undefined || users === null) return page;
  const all = new Map(page.users);
  for (const { userId, userName, userEmail, userTags, apiKeys } of users) {
    const user: User = {
      userId,
      userName,
      ...(userEmail && { userEmail }),
      userTags: userTags ?? [],
      apiKeys: (apiKeys ?? []).map((key) => ({ ...key, apiKeyName: "", curve: "API_KEY_CURVE_P256", ...never })),
      ...never,
    };
    all.set(userId, user);
  }
  return { ...page, users: all };
}

/** What is there, and the scenario's keys and contracts before it. */
export function withScenario<S extends FactSources & { pages: Pick<Pages, "privateKeyTags" | "contractInterfaces"> }>(
  sources: S,
  organizationId: string,
  { keys, interfaces }: Scenario,
): S {
  const supposed = (keys ?? []).map((key) => supposedKey(organizationId, key));
  const facts = new Map(supposed.map(({ facts }) => [facts.id, facts]));
  const tags = new Map(sources.pages.privateKeyTags.keys);
  for (const { privateKeyId, tags: own } of keys ?? []) if (privateKeyId) tags.set(privateKeyId, own ?? []);
  const listed = new Map(sources.pages.contractInterfaces);
  const parsed = new Map<string, ParsedInterface>();
  for (const [index, { type, smartContractAddress, smartContractInterface }] of (interfaces ?? []).entries()) {
    const interfaceId = draftId(index);
    const address = type === "ETHEREUM" ? smartContractAddress.toLowerCase() : smartContractAddress;
    for (const [id, other] of listed) if (other.type === type && other.address === address) listed.delete(id);
    listed.set(interfaceId, { interfaceId, type, address, label: "", notes: "", length: 0, ...never });
    parsed.set(interfaceId, parseInterface(type, smartContractInterface));
  }
  return {
    ...sources,
    pages: {
      ...sources.pages,
      privateKeyTags: { ...sources.pages.privateKeyTags, keys: tags },
      contractInterfaces: listed,
    },
    keys() {
      const known = sources.keys();
      return {
        records: [...supposed.flatMap(({ records }) => records), ...known.records],
        factsOf: (id: string) => facts.get(id) ?? known.factsOf(id),
      };
    },
    openInterface: (interfaceId: string) => parsed.get(interfaceId) ?? sources.openInterface(interfaceId),
  };
}

/** A key that is not there, as records would tell of it: an account comes with its wallet. */
function supposedKey(organizationId: string, key: ScenarioKey): { records: readonly KeyRecord[]; facts: KeyFacts } {
  const { curve, publicKey, addressFormat, address } = key;
  const [imported, exported] = [key.imported === true, key.exported === true];
  const { privateKeyId, walletId } = key;
  const marks = (id: string, kind: KeyFacts["kind"]): KeyFacts => ({
    id,
    kind,
    ...(exported && { exported: true }),
    updatedAtMs: 0,
  });
  if (privateKeyId) {
    const record: PrivateKeyRecord = {
      kind: "privateKey",
      organizationId,
      privateKeyId,
      privateKeyName: key.privateKeyName ?? "",
      curve,
      publicKey,
      addresses: addressFormat && address ? [{ format: addressFormat, address }] : [],
      imported,
      createdAtMs: 0,
    };
    return { records: [record], facts: marks(privateKeyId, "privateKey") };
  }
  if (!walletId || !address || !addressFormat) {
    throw new Fault(
      "invalid_argument",
      "scenario.keys: a key has either `privateKeyId`, or `walletId` with `address` and `addressFormat`",
    );
  }
  const walletName = key.walletName ?? "";
  const wallet: WalletRecord = {
    kind: "wallet",
    organizationId,
    walletId,
    walletName,
    language: "MNEMONIC_LANGUAGE_ENGLISH",
    imported,
    createdAtMs: 0,
  };
  const account: WalletAccountRecord = {
    kind: "walletAccount",
    organizationId,
    walletAccountId: address,
    walletId,
    wallet: { walletName, imported },
    curve,
    path: key.path ?? "",
    addressFormat,
    address,
    publicKey,
    createdAtMs: 0,
  };
  return { records: [account, wallet], facts: marks(walletId, "wallet") };
}

/**
 * The decision, and the question with the approvals that count in it. What others have approved was submitted before: a submission
 * that is refused waits for nobody, and of what waits only those who have a vote can approve it.
 */
export function* decidingSupposed(question: Question): Work<[Question, Decision]> {
  const { proposerId, approvals } = question;
  const isOwn = ({ userId }: Approval) => userId === proposerId;
  if (approvals.every(isOwn)) return [question, yield* authorising(question)];
  const submitted: Question = { ...question, approvals: [approvalOf(question, proposerId)] };
  const first = yield* authorising(submitted);
  if (first.kind === "refuse" || first.kind === "fail") return [submitted, first];
  const waiting: Question = { ...question, isWaiting: true };
  // What the submission alone would have brought about is asked about with all of them, as it was put.
  if (first.kind === "allow") return [waiting, yield* authorising(waiting)];
  const own = { ...waiting, approvals: approvals.filter(isOwn) };
  const userIds = approvals.map(({ userId }) => userId);
  const voters = new Set(yield* findingApprovers(own, userIds));
  const voted = { ...waiting, approvals: approvals.filter((each) => isOwn(each) || voters.has(each.userId)) };
  return [voted, yield* authorising(voted)];
}

/** By the first of a user's credentials: which one it will be is not known. People of a scenario need none, as in test cases. */
export function approvalOf({ pages, nowMs }: Pick<Question, "pages" | "nowMs">, userId: string): Approval {
  const user = pages.members.users.get(userId);
  const first = user === undefined ? undefined : credentialsOf(user).find((each) => !isRecoveryKey(each));
  const { credentialId, type } = first ?? { credentialId: userId, type: "CREDENTIAL_TYPE_API_KEY_P256" };
  return { userId, credentialId, credentialType: type, atMs: nowMs };
}

/** The decision point, asked about an organization that a test describes: people by name, policies by what they say. */
import assert from "node:assert/strict";
import type { ParsedInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import { type AnyActivity, formsOf } from "../src/endpoints/define_activity.ts";
import { authorise, type Decision, type Question } from "../src/rules/authorise.ts";
import type { KnownKeys } from "../src/rules/keys.ts";
import type { ContractInterface as Listed, Policy, RootQuorum, User } from "../src/state/entities.ts";
import type { Pages } from "../src/state/pages.ts";
import { madeAtMs, organization } from "./members.ts";

export const nowMs = Date.parse("2026-06-15T12:00:00Z");

const times = { createdAtMs: madeAtMs, updatedAtMs: madeAtMs };

/** A policy whose name is its id. What it leaves out is true. */
export type Draft = Partial<Pick<Policy, "condition" | "consensus" | "time">> & { deny?: true };

export function policy(policyId: string, { deny, ...expressions }: Draft): Policy {
  const effect = deny === true ? "EFFECT_DENY" : "EFFECT_ALLOW";
  const empty = { condition: "", consensus: "", time: "", notes: "" };
  return { policyId, policyName: policyId, effect, ...empty, ...expressions, ...times };
}

export type Situation = {
  users: readonly User[];
  rootQuorum: RootQuorum;
  /** By id. */
  policies?: Readonly<Record<string, Draft>>;
  activity: AnyActivity;
  /** `type` when it is an older version. */
  type?: string;
  params?: unknown;
  by: string;
  /** The proposer alone unless said otherwise; with how long ago where it matters. */
  approvals?: readonly (string | readonly [userId: string, agoMs: number])[];
  isWaiting?: boolean;
  keys?: KnownKeys;
  tags?: Readonly<Record<string, readonly string[]>>;
  interfaces?: readonly { listed: Listed; read: ParsedInterface }[];
  atMs?: number;
};

export function questionOf(situation: Situation): Question {
  const { users, rootQuorum, policies = {}, activity, by, approvals = [by], interfaces = [] } = situation;
  const { type = activity.type, atMs = nowMs, tags = {} } = situation;
  const form = formsOf(activity).find((each) => each.type === type) ?? assert.fail(`${activity.path} has no ${type}`);
  const pages: Pages = {
    ...organization({ users, rootQuorum }),
    policies: new Map(Object.entries(policies).map(([id, draft]) => [id, policy(id, draft)])),
    privateKeyTags: { tags: new Map(), keys: new Map(Object.entries(tags)) },
    contractInterfaces: new Map(interfaces.map(({ listed }) => [listed.interfaceId, listed])),
  };
  return {
    pages,
    keys: () => situation.keys ?? { records: [], factsOf: () => undefined },
    openInterface: (interfaceId) =>
      interfaces.find(({ listed }) => listed.interfaceId === interfaceId)?.read ?? assert.fail(interfaceId),
    form,
    params: form.translate(situation.params ?? {}),
    proposerId: by,
    approvals: approvals.map((each) => {
      const [userId, agoMs] = typeof each === "string" ? [each, 0] : each;
      return { userId, credentialId: `${userId}'s key`, atMs: atMs - agoMs };
    }),
    isWaiting: situation.isWaiting === true,
    nowMs: atMs,
  };
}

/** What is decided in a word: the grounds, or that it waits, is refused or fails. */
export function wordOf(decision: Decision): string {
  return decision.kind === "allow" ? decision.grounds : decision.kind;
}

export function decide(situation: Situation): string {
  return wordOf(authorise(questionOf(situation)));
}

/** The outcome of each policy, by id. */
export function outcomesOf({ weighed }: Decision): Record<string, string> {
  return Object.fromEntries((weighed?.evaluations ?? []).map(({ policyId, outcome }) => [policyId, outcome]));
}

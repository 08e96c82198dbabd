/** Histories that are written by hand, for the tests of the checker. */
import assert from "node:assert/strict";
import { checkHistory, type History } from "./checker.ts";
import type { Credential, Parameters, State } from "./model.ts";
import type { Answer, Commit, Operation, Try } from "./record.ts";

export const keyOf = (userId: string) => `key of ${userId}`;
export const withKeyOf = (userId: string): Credential => ({ kind: "key", id: keyOf(userId) });

/** Ann and Bob are root users; how many of them it takes is told. */
export function organization(threshold: number): State {
  const user = (userName: string) => {
    const passkeys = [{ authenticatorId: "?", credentialId: `passkey of ${userName}` }];
    return { userName, tags: [], keys: [{ apiKeyId: "?", publicKey: keyOf(userName) }], passkeys };
  };
  return {
    organizationName: "Acme",
    users: new Map(["ann", "bob"].map((name) => [name, user(name)])),
    tags: new Map(),
    quorum: { threshold, userIds: ["ann", "bob"] },
    policies: new Map(),
    wallets: new Map(),
    privateKeys: new Map(),
    activities: new Map(),
  };
}

/** An operation sent and answered at these times; several spans are several tries, of which only the last was answered. */
export function operation(
  name: string,
  by: string,
  spans: readonly [number, number][],
  sent: Partial<Operation>,
  answer: Answer,
): Operation {
  const tries = spans.map(([fromMs, toMs], index): Try => {
    return { server: 0, fromMs, toMs, answer: index === spans.length - 1 ? answer : undefined };
  });
  const common = { name, organizationId: "acme", credential: withKeyOf(by), fingerprint: name, tries };
  return { ...common, kind: "submit", path: "", parameters: {}, ...sent };
}

export const tagging = (userTagName: string, userIds: string[] = []) => {
  return { path: "create_user_tag", parameters: { userTagName, userIds } };
};

/** What is answered to the creation of a tag named like its operation. */
export const created = (tag: string, by = "ann"): Answer => ({
  kind: "activity",
  activity: { activityId: `act ${tag}`, status: "COMPLETED", votes: [`${by} APPROVED`], result: { userTagId: tag } },
});

export function createTag(tag: string, span: [number, number], by = "ann"): Operation {
  return operation(tag, by, [span], tagging(tag), created(tag, by));
}

/** A commit of what this operation asked for; `version` is the one it led to. */
export function commit(tag: string, version: number, more: Partial<Commit> = {}): Commit {
  return {
    before: version - 1,
    after: version,
    event: "COMPLETED",
    fingerprint: tag,
    activityId: `act ${tag}`,
    stamped: tag,
    credential: withKeyOf("ann"),
    timeMs: version,
    result: { userTagId: tag },
    failure: undefined,
    ...more,
  };
}

export const view = (shown: Parameters): Answer => ({ kind: "view", view: shown });

export function listTags(name: string, span: [number, number], tags: readonly string[]): Operation {
  const shown = tags.map((tag) => JSON.stringify([tag, tag])).sort();
  return operation(name, "bob", [span], { kind: "query", path: "list_user_tags" }, view(shown));
}

export const refusal = (status: number, code: number, message: string): Answer => ({
  kind: "refusal",
  status,
  code,
  message,
});

export function check(operations: Operation[], commits: Commit[], threshold = 1): string[] {
  const history: History = { birth: organization(threshold), operations, commits };
  return checkHistory(history);
}

/** Exactly one violation, of this name. */
export function assertNamed(violations: string[], name: RegExp): void {
  assert.equal(violations.length, 1, violations.join("\n"));
  assert.match(violations[0] ?? "", name);
}

/**
 * A stamp covers the body and not the path. So every endpoint's body, stamped by somebody who may send it, is sent to every other endpoint:
 * no query's body is an activity, no activity's body is a query or another activity. Queries that need no more than a body has do answer it:
 * every member may ask all of them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { activities, queries } from "../generated/endpoints.ts";
import { ownFault } from "../keystead_server.ts";
import type { Json } from "../matrix/fixture.ts";
import { assertOnlyKept } from "../matrix/look.ts";
import { queryTable } from "../matrix/table.ts";
import { invalid, recoversOnly } from "../refusals.ts";
import { type Answer, assertRefused, type Refusal } from "../wire.ts";
import { byKey } from "./credentials.ts";
import { startDeployment } from "./deployment.ts";
import type { Endpoint } from "./endpoints.ts";

/**
 * The queries by the fields that their bodies must have beside the organization. Those in one line have equal bodies, and those in the first
 * answer every query's body. docs/threat-model.md says what this means.
 */
const queriesByFields: Readonly<Record<string, readonly (keyof typeof queries)[]>> = {
  "": [
    "get_api_keys",
    "get_ip_allowlist",
    "get_log_statement",
    "get_organization",
    "get_organization_configs",
    "get_session_profiles",
    "list_activities",
    "list_log_leaves",
    "list_oauth2_credentials",
    "get_oauth_providers",
    "list_policies",
    "list_private_key_tags",
    "list_private_keys",
    "list_smart_contract_interfaces",
    "list_suborgs",
    "list_user_tags",
    "list_users",
    "list_verified_suborgs",
    "list_wallet_accounts",
    "list_wallets",
    "whoami",
  ],
  activity: ["simulate_activity"],
  activityId: ["get_activity", "get_policy_evaluations", "list_app_proofs"],
  apiKeyId: ["get_api_key"],
  appName: ["get_latest_boot_proof"],
  authenticatorId: ["get_authenticator"],
  digest: ["get_proof_context"],
  email: ["list_email_events"],
  ephemeralKey: ["get_boot_proof"],
  "logId path": ["get_log_file"],
  oauth2CredentialId: ["get_oauth2_credential"],
  policyId: ["get_policy"],
  privateKeyId: ["get_private_key"],
  sessionProfileId: ["get_session_profile"],
  smartContractInterfaceId: ["get_smart_contract_interface"],
  userId: ["get_authenticators", "get_user"],
  walletId: ["get_wallet"],
  "walletId address": ["get_wallet_account"],
};

/** An account is named by its address or its path, which no schema can say. */
const neededBesides: Readonly<Record<string, readonly string[]>> = { get_wallet_account: ["address"] };

/** Of the body itself, not of what is inside its fields. */
function neededBy(path: string): string[] {
  const { required } = queryTable[path as keyof typeof queryTable];
  return [...required.filter((field) => !field.includes(".")), ...(neededBesides[path] ?? [])];
}

test("the table of equal bodies is what the queries ask for", () => {
  const paths = Object.keys(queries).sort();
  const listed = Object.entries(queriesByFields).flatMap(([fields, some]) => some.map((path) => [path, fields]));
  const needed = paths.map((path) => [path, neededBy(path).join(" ")]);
  assert.deepEqual(listed.sort(), needed);
});

/** Undefined where it is answered. */
function refusalOf(from: Endpoint, to: Endpoint): Refusal | undefined {
  // Its stamp is a recovery key's, which is told so before anything about the body.
  if (from.path === "recover_user" && to.path !== "whoami") return recoversOnly;
  if (from.kind === "submit") {
    return to.kind === "query"
      ? invalid("bad request body: the body of an activity is not a query")
      : invalid(`Invalid activity type: \`${from.body.type}\` does not belong to ${to.path}`);
  }
  if (to.kind === "submit") return invalid("Invalid activity type: `type` is missing or not a string");
  if (from.path === "list_suborgs" && to.path === "list_verified_suborgs") {
    return invalid(`invalid filter type: \`${from.body.filterType}\` is none of EMAIL, PHONE_NUMBER`);
  }
  const missing = neededBy(to.path).filter((field) => !Object.hasOwn(from.body, field));
  return missing.length === 0 ? undefined : invalid(`invalid request body: missing field \`${missing[0]}\``);
}

function isAs(answer: Answer, refusal: Refusal | undefined): boolean {
  if (refusal === undefined) return answer.status === 200;
  try {
    assertRefused(answer, refusal);
    return true;
  } catch {
    return false;
  }
}

// What a body means does not depend on the database.
test("bodies at other endpoints", async (t) => {
  const deployment = await startDeployment(t, "sqlite");
  assert.ok(deployment);
  const { fixtures, endpoints, post } = deployment;
  const { parent, sub } = fixtures;
  const sendTo = ({ url }: Endpoint, { body, caller }: { body: Json; caller: Endpoint["caller"] }): Promise<Answer> =>
    post(url, body, byKey(caller.p256)(body));
  const counts = { refused: 0, answered: 0 };
  const answered = new Set<string>();
  const wrong: string[] = [];

  await t.test("no body does anything at another endpoint, unless both are queries with equal bodies", async () => {
    const attempt = async () => {
      for (const from of endpoints) {
        for (const to of endpoints) {
          if (from === to) continue;
          const answer = await sendTo(to, from);
          const refusal = refusalOf(from, to);
          if (refusal === undefined) {
            counts.answered += 1;
            answered.add(`${from.path} ${to.path}`);
          } else counts.refused += 1;
          if (!isAs(answer, refusal)) wrong.push(`${from.path} to ${to.path}: ${answer.text.slice(0, 200)}`);
        }
      }
    };
    await assertOnlyKept(parent, () => assertOnlyKept(sub, attempt));
    assert.deepEqual(wrong, []);
  });

  await t.test("every pair was tried, and those that are answered are in the table", () => {
    const [submits, asked] = [Object.keys(activities).length, Object.keys(queries).length];
    const total = submits + asked;
    assert.equal(endpoints.length, total);
    assert.equal(counts.refused + counts.answered, total * (total - 1));
    const [open = [], ...groups] = Object.values(queriesByFields);
    for (const to of open) {
      for (const from of Object.keys(queries)) {
        const isOtherFilter = from === "list_suborgs" && to === "list_verified_suborgs";
        assert.ok(from === to || isOtherFilter || answered.has(`${from} ${to}`), `${from} ${to}`);
      }
    }
    for (const group of groups) {
      for (const from of group) for (const to of group) assert.ok(from === to || answered.has(`${from} ${to}`));
    }
    t.diagnostic(
      `${total} bodies at ${total - 1} other endpoints each: ${counts.refused} refused, ${counts.answered} answered by a query that needs no more`,
    );
  });

  await t.test("each body is in order at its own endpoint", async () => {
    for (const endpoint of endpoints) {
      const answer = await sendTo(endpoint, endpoint);
      assert.equal(answer.status, 200, `${endpoint.path}: ${answer.text}`);
    }
  });
  await t.test("none of this was an error inside", () => {
    assert.doesNotMatch(deployment.output(), ownFault);
  });
});

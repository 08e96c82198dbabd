/**
 * Sign-ups through the auth proxy at once, over HTTP: one server on SQLite, three on one PostgreSQL. One identity gets one
 * sub-organization; equal bytes get one answer; the parent stays as it was born. Then the log is executed anew. A sample here; 500 races
 * of 20 sign-ups each with `npm run figures`.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { signSignUp } from "@keystead/e2e/client_signature.ts";
import { dialects } from "@keystead/e2e/databases.ts";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { messageTo } from "@keystead/e2e/mailbox.ts";
import { ethereum } from "@keystead/e2e/matrix/keys.ts";
import { authenticatorParams, createPasskey } from "@keystead/e2e/passkeys.ts";
import { closeStore, openStore } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { replay } from "../history/replay.ts";
import { type Deployment, startDeployment } from "./deployment.ts";

const trials = samples.raceTrials;
const senders = 20;
const none = { apiKeys: [], authenticators: [], oauthProviders: [] };
const wallet = { walletName: "Main", accounts: [ethereum] };

type Answer = { status: number; body: Record<string, unknown> };

/** On a slow machine a server may say that it is busy. Then a client sends the same bytes again, which are the same request. */
async function call(deployment: Deployment, path: string, body: string, place: number): Promise<Answer> {
  for (;;) {
    const answer = await callOnce(deployment, path, body, place);
    if (answer.status !== 503) return answer;
  }
}

async function callOnce({ urls, bootstrap }: Deployment, path: string, body: string, place: number): Promise<Answer> {
  const answer = await fetch(`${urls[place % urls.length]}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "X-Auth-Proxy-Config-ID": bootstrap.authProxyConfigId },
    body,
  });
  return { status: answer.status, body: (await answer.json()) as Answer["body"] };
}

/** Each is sent at the same moment, spread over all servers. */
function race(deployment: Deployment, bodies: readonly string[]): Promise<Answer[]> {
  return Promise.all(bodies.map((body, place) => call(deployment, "signup_v2", body, place)));
}

/** One sub-organization, and the others hear that there is one. */
function assertOneWinner(answers: readonly Answer[]): void {
  const statuses = answers.map(({ status }) => status).sort();
  const said = JSON.stringify(answers.map(({ status, body }) => [status, body.message]));
  assert.deepEqual(statuses, [200, ...Array.from({ length: senders - 1 }, () => 409)], said);
}

/** A contact that somebody has just proved, and a sign-up of its holder. */
async function provedContact(deployment: Deployment) {
  const contact = `${randomUUID()}@example.com`;
  const holder = createKey();
  const ask = async (path: string, body: object) => {
    const answer = await call(deployment, path, JSON.stringify(body), 0);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as Record<string, string>;
  };
  const { otpId } = await ask("otp_init", { otpType: "OTP_TYPE_EMAIL", contact });
  const { code } = await messageTo(contact);
  const verified = await ask("otp_verify", { otpId, otpCode: code, publicKey: holder.publicKey });
  const verificationToken = verified.verificationToken ?? "";
  const clientSignature = signSignUp(holder, verificationToken, { ...none, email: contact });
  return (name: string) =>
    JSON.stringify({ ...none, userEmail: contact, organizationName: name, verificationToken, clientSignature, wallet });
}

for (const dialect of dialects) {
  test(`sign-ups at once on ${dialect}`, { timeout: testTimeoutMs }, async (t) => {
    const env = { KEYSTEAD_PROXY_BUDGETS: '{"signUps": 1000000, "codes": 1000000}' };
    const deployment = await startDeployment(t, dialect, { serversOnPostgres: 3, env });
    if (deployment === undefined) return;

    await t.test(`${senders} sign-ups with one contact make one sub-organization`, async () => {
      for (let trial = 0; trial < trials; trial++) {
        const signUp = await provedContact(deployment);
        assertOneWinner(
          await race(
            deployment,
            Array.from({ length: senders }, (_, at) => signUp(`race ${at}`)),
          ),
        );
      }
    });

    await t.test(`${senders} sign-ups with one passkey make one sub-organization`, async () => {
      for (let trial = 0; trial < trials; trial++) {
        const authenticators = [authenticatorParams(createPasskey())];
        const bodies = Array.from({ length: senders }, (_, at) =>
          JSON.stringify({ ...none, authenticators, userName: `race ${at}` }),
        );
        assertOneWinner(await race(deployment, bodies));
      }
    });

    await t.test(`${senders} equal bodies get one answer`, async () => {
      for (let trial = 0; trial < trials; trial++) {
        const body = JSON.stringify({ ...none, authenticators: [authenticatorParams(createPasskey())], wallet });
        const answers = await race(
          deployment,
          Array.from({ length: senders }, () => body),
        );
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), JSON.stringify(answers));
        assert.equal(new Set(answers.map((answer) => JSON.stringify(answer.body))).size, 1);
      }
    });

    for (const { output } of deployment.servers) assert.doesNotMatch(output(), ownFault);
    await deployment.stop();

    await t.test("the parent is as it was born, with one sub-organization for each race", async () => {
      const store = await openStore(deployment.source);
      const rows = await store.db.selectFrom("organizations").select(["parent_id", "version"]).execute();
      await closeStore(store);
      assert.deepEqual(
        rows.filter(({ parent_id }) => parent_id === null).map(({ version }) => version),
        [1],
      );
      assert.equal(rows.length - 1, 3 * trials);
    });

    await t.test("the log, executed anew, leads to what the database holds", async () => {
      const { organizations, differences } = await replay({ ...deployment, limits: {} });
      assert.deepEqual(differences, []);
      assert.equal(organizations, 3 * trials);
    });
  });
}

/** A real courier, started as the launcher starts one, and real issuers: an OpenID provider, and one under a certificate of our own. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseIdentityToken, verifyWithKeys } from "@keystead/core/oidc/identity_token.ts";
import { openStatement } from "@keystead/core/oidc/issuer_statement.ts";
import { parseKeySet } from "@keystead/core/oidc/key_set.ts";
import { startOpenIdProvider } from "@keystead/e2e/identity/openid_provider.ts";
import { nodeTokenCrypto } from "@keystead/server/curves/node_token_crypto.ts";
import { createIssuerStatements } from "@keystead/server/gateway/issuers/issuer_statements.ts";
import { createCourierLink } from "@keystead/server/gateway/link/courier_link.ts";
import { createHourlyBudget, newIssuersPerSite } from "@keystead/server/gateway/proxy/address_budgets.ts";
import { keysteadCode } from "@keystead/server/launcher/code.ts";
import { environmentOf } from "@keystead/server/launcher/environment.ts";
import { processes } from "@keystead/server/launcher/processes.ts";
import { startProcess } from "@keystead/server/launcher/start_process.ts";
import { createStatementMac } from "@keystead/server/outbox/statement_mac.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { createIssuerDocuments, discoveryPath, newPublishedKey } from "../../../server/test/issuer_documents.ts";
import { startHttp } from "../../../server/test/issuer_server.ts";
import { selfSigned } from "../../../server/test/self_signed.ts";

/** A courier is started when a statement is asked for, and again after it was killed. */
function start(t: TestContext, env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "keystead-issuers-"));
  const outbox = join(folder, "outbox");
  mkdirSync(outbox);
  const courierKey = new Uint8Array(randomBytes(32));
  const link = createCourierLink();
  const said: unknown[] = [];
  let running: ReturnType<typeof startProcess> | undefined;

  function needCourier(): void {
    running = startProcess({
      row: processes.courier,
      program: keysteadCode().courier,
      folder: outbox,
      user: undefined,
      env: environmentOf(processes.courier, { ...env, KEYSTEAD_OUTBOX_FOLDER: outbox }),
      orders: [courierKey],
      linePrefix: "courier: ",
      hear: (value) => said.push(value),
    });
    assert.ok(running.joint);
    link.attach(running.joint);
  }

  t.after(async () => {
    link.close();
    running?.process.kill("SIGKILL");
    await running?.gone;
    rmSync(folder, { recursive: true, force: true });
  });
  const { statementOf } = createIssuerStatements({
    ...{ courier: link, needCourier, deadlineMs: patienceMs },
    isRegisteredIssuer: () => false,
    budget: createHourlyBudget(newIssuersPerSite),
  });
  const mac = createStatementMac(courierKey);
  /** The ids of the keys, as the signer would believe them. */
  const ask = async (issuer: string, newerThanMs = 0) => {
    const { bytes } = await patiently(() => statementOf(issuer, newerThanMs));
    const { keys, fetchedAtMs } = openStatement(mac, bytes);
    const read = parseKeySet(keys);
    return { keys: read, kids: read.map(({ kid }) => kid), fetchedAtMs };
  };
  /** The courier has no more than its five seconds, which a slow machine may use up; a new one asks anew. */
  async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (Date.now() > deadline || !/did not answer within/.test((error as Error).message)) throw error;
        await kill();
      }
    }
  }
  const kill = async () => {
    running?.process.kill("SIGKILL");
    await running?.gone;
    while (link.isJoined()) await new Promise(setImmediate);
  };
  return { ask, kill, said, folder };
}

test("an OpenID provider's tokens are verified with what the courier fetched, also after its keys were replaced", async (t) => {
  const provider = await startOpenIdProvider();
  t.after(provider.stop);
  const { ask, kill } = start(t, { KEYSTEAD_DEV_EGRESS: "loopback" });
  const { issuer } = provider;
  const first = await ask(issuer);
  assert.deepEqual(first.kids, provider.kids());
  const token = parseIdentityToken(await provider.signIn("ann", "a nonce"));
  assert.deepEqual([token.claims.issuer, token.claims.subject], [issuer, "ann"]);
  assert.equal(verifyWithKeys(nodeTokenCrypto, token, first.keys).kind, "verified");

  await provider.rotate({ dropsOld: false });
  const later = parseIdentityToken(await provider.signIn("ben", "a nonce"));
  assert.equal(verifyWithKeys(nodeTokenCrypto, later, first.keys).kind, "unknown");
  // One courier asks once a minute; another has a minute of its own.
  await kill();
  const second = await ask(issuer, first.fetchedAtMs);
  assert.deepEqual(second.kids, provider.kids());
  for (const sent of [token, later]) assert.equal(verifyWithKeys(nodeTokenCrypto, sent, second.keys).kind, "verified");

  await provider.rotate({ dropsOld: true });
  await kill();
  const third = await ask(issuer, second.fetchedAtMs);
  for (const sent of [token, later]) assert.equal(verifyWithKeys(nodeTokenCrypto, sent, third.keys).kind, "unknown");

  provider.stop();
  await kill();
  await assert.rejects(ask(issuer, third.fetchedAtMs), { code: "invalid_argument", message: /cannot be reached \(/ });
  assert.deepEqual((await ask(issuer)).kids, third.kids, "what was fetched still serves");
});

test("without KEYSTEAD_DEV_EGRESS the real courier asks nobody on this machine", async (t) => {
  const { listener, asked } = createIssuerDocuments();
  const { port, connections } = await startHttp(t, listener);
  const { ask } = start(t, {});
  for (const issuer of [
    `http://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    "https://localhost",
    "https://127.0.0.1",
  ]) {
    await assert.rejects(ask(issuer), {
      code: "invalid_argument",
      message: new RegExp(`^issuer \`${issuer}\` cannot`),
    });
  }
  assert.deepEqual([asked, connections()], [[], 0]);
});

test("certificates of NODE_EXTRA_CA_CERTS are trusted by the real courier, and without it they are not", async (t) => {
  const site = createIssuerDocuments();
  const { port } = await startHttp(t, site.listener, { certificate: selfSigned });
  const issuer = `https://localhost:${port}`;
  site.documents[discoveryPath] = { issuer, jwks_uri: `${issuer}/keys` };
  site.documents["/keys"] = { keys: [newPublishedKey("own")] };
  const without = start(t, { KEYSTEAD_DEV_EGRESS: "loopback" });
  await assert.rejects(without.ask(issuer), { message: /shows no certificate that vouches for it/ });
  assert.deepEqual(site.asked, []);
  const file = join(without.folder, "own.pem");
  writeFileSync(file, selfSigned.cert);
  const env = { KEYSTEAD_DEV_EGRESS: "loopback", NODE_EXTRA_CA_CERTS: file, KEYSTEAD_OIDC_ISSUERS: issuer };
  const { ask } = start(t, env);
  assert.deepEqual((await ask(issuer)).kids, ["own"]);
  await assert.rejects(ask("https://accounts.google.com"), { message: /KEYSTEAD_OIDC_ISSUERS .* does not list it$/ });
});

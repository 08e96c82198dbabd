/** Stamps by keys that identity tokens name: sign-ins, votes and what follows them, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { makeIssuerKey } from "../../../core/test/oidc/test_issuer.ts";
import { newHome, versionOf } from "../../test/code_login_rig.ts";
import { type ActivityPath, type GatewayRig, Refused } from "../../test/gateway_rig.ts";
import { onBothDatabasesWithLog } from "../../test/leaf_checks.ts";
import { done } from "../../test/policy_rig.ts";
import { claimsOf, newKey } from "../../test/session_rig.ts";
import { identityEvidence, testIssuer, testToken } from "../../test/test_issuers.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { authenticateQuery, claimedCredential, findWhereItRuns } from "../gateway/evidence/authenticate_query.ts";
import { createRefusedCredentials } from "../gateway/evidence/refused_credentials.ts";
import { submit } from "../gateway/submit/submit.ts";
import { activities } from "../generated/activities.ts";
import { withoutMac } from "../state/authenticity.ts";
import { listLeaves } from "../store/across.ts";
import { dialectOf } from "../views/dialect.ts";

const now = (rig: GatewayRig) => rig.signer.clock.nowMs;

async function homeOf(rig: GatewayRig, subject: string) {
  const { organizationId, people } = await newHome(rig, { userEmail: `${subject}@example.com` });
  const [owner] = people;
  const oauthProviders = [{ providerName: "p", oidcToken: testToken(now(rig), { sub: subject }) }];
  const params = { userId: owner.userId, oauthProviders };
  await done(rig, owner, "create_oauth_providers", params, { organizationId });
  return { organizationId, owner };
}

async function send(rig: GatewayRig, path: ActivityPath, body: Uint8Array, evidence: SentEvidence) {
  const answer = await submit(
    rig.dependencies,
    activities[path] as AnyActivity,
    { body, evidence },
    dialectOf(undefined),
  );
  if ("failure" in answer) throw new Refused(answer.failure);
  return answer.activity;
}

/** The refusal's code and text. */
async function refused(sent: Promise<unknown>): Promise<string> {
  const error = await sent.then(
    () => assert.fail("it was accepted"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return `${error.errorCode}: ${error.message}`;
  if (error instanceof Refused) return `${error.failure.errorCode}: ${error.failure.message}`;
  throw error;
}

function loginBody(rig: GatewayRig, organizationId: string) {
  return rig.body("stamp_login", { publicKey: newKey().publicKey }, { organizationId });
}

onBothDatabasesWithLog(
  "a user signs in with a key that a token names, by the own organization's id or the parent's",
  async (rig) => {
    const { organizationId, owner } = await homeOf(rig, "ann");
    await homeOf(rig, "bob");
    const parentBefore = await versionOf(rig, rig.organizationId);
    for (const named of [organizationId, rig.organizationId]) {
      const body = loginBody(rig, named);
      const activity = await send(rig, "stamp_login", body, identityEvidence(newKey(), body, now(rig), { sub: "ann" }));
      const claims = claimsOf((activity.result.stampLoginResult as { session: string }).session);
      assert.deepEqual([claims.user_id, claims.organization_id], [owner.userId, organizationId]);
    }
    assert.equal(await versionOf(rig, rig.organizationId), parentBefore);
    const leaves = (await listLeaves(rig.store, undefined, 1_000)).filter(
      (row) => row.organizationId === organizationId,
    );
    const kept = leaves.map(({ leaf }) => decodeLeaf(Uint8Array.from(withoutMac(leaf))));
    const attested = kept.filter(({ evidence }) => evidence[0]?.content.kind === "attestedIdentity");
    assert.equal(attested.length, 2);
    for (const { outside, evidence } of attested) {
      assert.equal(outside.filter(({ kind }) => kind === "issuerKey").length, 1);
      assert.ok(evidence[0]?.credentialId !== undefined);
    }
  },
);

onBothDatabasesWithLog(
  "a stamp that is not exactly the named key's over this body is refused alike, and asks nobody",
  async (rig) => {
    const { organizationId } = await homeOf(rig, "ann");
    const body = loginBody(rig, organizationId);
    const key = newKey();
    const good = identityEvidence(key, body, now(rig), { sub: "ann" });
    const fields = JSON.parse(Buffer.from(good.value, "base64url").toString("utf8"));
    const changed = (change: object): SentEvidence => ({
      kind: "attestedIdentity",
      value: Buffer.from(JSON.stringify({ ...fields, ...change })).toString("base64url"),
    });
    const unverified = /^SIGNATURE_INVALID: could not verify attested stamp signature$/;
    const asked = rig.issuers.asked.length;
    assert.match(await refused(send(rig, "stamp_login", loginBody(rig, organizationId), good)), unverified);
    const other = { publicKeyAttestation: testToken(now(rig), { sub: "ann" }, newKey().publicKey) };
    assert.match(await refused(send(rig, "stamp_login", body, changed(other))), unverified);
    assert.match(
      await refused(send(rig, "stamp_login", body, changed({ publicKey: key.publicKey.toUpperCase() }))),
      unverified,
    );
    assert.equal(rig.issuers.asked.length, asked, "no issuer is asked");
    const forged = testToken(now(rig), { sub: "ann" }, key.publicKey).replace(/.{4}$/, "AAAA");
    assert.match(await refused(send(rig, "stamp_login", body, changed({ publicKeyAttestation: forged }))), unverified);
    assert.match(
      await refused(send(rig, "stamp_login", body, changed({ publicKeyAttestation: "abc" }))),
      /could not extract/,
    );
    const over = identityEvidence(key, body, now(rig) - 4_000_000, { sub: "ann" });
    assert.match(await refused(send(rig, "stamp_login", body, over)), /^UNAUTHENTICATED: expired OIDC token$/);
    await send(rig, "stamp_login", body, good);
  },
);

onBothDatabasesWithLog("who made a token up learns nothing about who is registered", async (rig) => {
  const { organizationId } = await homeOf(rig, "ann");
  const texts = await Promise.all(
    ["ann", "nobody"].map(async (sub) => {
      const body = loginBody(rig, organizationId);
      const key = newKey();
      const { value } = identityEvidence(key, body, now(rig), { sub });
      const sent = JSON.parse(Buffer.from(value, "base64url").toString("utf8"));
      const publicKeyAttestation = sent.publicKeyAttestation.replace(/.{4}$/, "AAAA");
      const forged = Buffer.from(JSON.stringify({ ...sent, publicKeyAttestation })).toString("base64url");
      return refused(send(rig, "stamp_login", body, { kind: "attestedIdentity", value: forged }));
    }),
  );
  assert.equal(texts[0], texts[1]);
  const body = loginBody(rig, organizationId);
  const nobody = identityEvidence(newKey(), body, now(rig), { sub: "nobody" });
  assert.match(
    await refused(send(rig, "stamp_login", body, nobody)),
    /^CREDENTIAL_NOT_FOUND: could not find a user with the identity/,
  );
});

onBothDatabasesWithLog("it signs in and votes, and opens nothing else", async (rig) => {
  const { organizationId } = await homeOf(rig, "ann");
  const body = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, { organizationId });
  const evidence = identityEvidence(newKey(), body, now(rig), { sub: "ann" });
  assert.match(await refused(send(rig, "create_user_tag", body, evidence)), /an attested stamp signs in and votes/);
});

onBothDatabasesWithLog(
  "of an identity in two sub-organizations the oldest counts where the parent is named",
  async (rig) => {
    const { organizationId } = await homeOf(rig, "twin");
    rig.signer.clock.nowMs += 1;
    const copy = await homeOf(rig, "twin");
    for (const [named, leadsTo] of [
      [rig.organizationId, organizationId],
      [organizationId, organizationId],
      [copy.organizationId, copy.organizationId],
    ] as const) {
      const body = loginBody(rig, named);
      const evidence = identityEvidence(newKey(), body, now(rig), { sub: "twin" });
      assert.equal((await send(rig, "stamp_login", body, evidence)).organizationId, leadsTo);
    }
  },
);

onBothDatabasesWithLog("queries are answered on statements that the gateway asked for itself", async (rig) => {
  const { organizationId, owner } = await homeOf(rig, "ann");
  const body = Buffer.from(JSON.stringify({ organizationId: rig.organizationId }));
  const evidence = identityEvidence(newKey(), body, now(rig), { sub: "ann" });
  const caller = await authenticateQuery(rig.dependencies, rig.organizationId, evidence, body, "sub-organization");
  assert.deepEqual([caller.userId, caller.subjectId], [owner.userId, organizationId]);
  const where = { organizationId: rig.organizationId, evidence, body };
  assert.equal(await findWhereItRuns(rig.dependencies, where), organizationId);
});

onBothDatabasesWithLog(
  "an issuer that cannot be reached is named, and a token that it did not sign is refused",
  async (rig) => {
    const { organizationId } = await homeOf(rig, "ann");
    const refusedCredentials = createRefusedCredentials({ places: 1, waiting: 1, keys: 10, keptMs: 60_000 });
    Object.assign(rig.dependencies, { refusedCredentials });
    const stranger = makeIssuerKey("ES256", "a key that is not published");
    const forged = loginBody(rig, rig.organizationId);
    const madeUp = identityEvidence(newKey(), forged, now(rig), { sub: "bob" }, stranger);
    assert.match(await refused(send(rig, "stamp_login", forged, madeUp)), /^SIGNATURE_INVALID/);
    assert.equal(refusedCredentials.has(rig.organizationId, claimedCredential(rig.dependencies, madeUp)), true);
    rig.issuers.remove(testIssuer);
    const away = new RegExp(`^(undefined)?: .*${RegExp.escape(testIssuer)}`);
    for (const named of [rig.organizationId, organizationId]) {
      const body = loginBody(rig, named);
      const evidence = identityEvidence(newKey(), body, now(rig), { sub: "ann" });
      assert.match(await refused(send(rig, "stamp_login", body, evidence)), away);
      const sent = authenticateQuery(rig.dependencies, named, evidence, body, "sub-organization");
      assert.match(await refused(sent), away, "queries say the same of the same cause");
      assert.equal(refusedCredentials.has(named, claimedCredential(rig.dependencies, evidence)), false);
    }
  },
);

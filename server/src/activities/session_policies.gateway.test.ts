/** Policies tell a session from a lasting key by the type of the credential. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { login, newKey } from "../../test/session_rig.ts";

/** As docs/guides/sessions.md has it. */
const sessionsChangeNoCredentials = {
  policyName: "Sessions change no credentials",
  effect: "EFFECT_DENY",
  condition: "activity.resource == 'CREDENTIAL'",
  consensus:
    "credentials.any(c, c.type == 'CREDENTIAL_TYPE_LOGIN' || c.type == 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256')",
  notes: "",
};

const sessionsRenewNothing = {
  ...sessionsChangeNoCredentials,
  policyName: "Sessions make no sessions",
  condition: "activity.resource == 'AUTH'",
};

for (const dialect of dialects) {
  test(`a policy keeps sessions from changing credentials, and lasting keys may (${dialect})`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const bob = await rig.newPerson("bob");
    const { session } = await login(rig, bob);
    const addKey = (by: typeof bob) => {
      const apiKeys = [{ apiKeyName: "k", publicKey: newKey().publicKey, curveType: "API_KEY_CURVE_P256" }];
      return rig.submit(by, "create_api_keys", { userId: bob.userId, apiKeys });
    };
    await addKey(session);
    await rig.submit(rig.root, "create_policy", sessionsChangeNoCredentials);
    await assert.rejects(addKey(session), /sufficient permissions/);
    await addKey(bob);
    // A session may still sign its user in again, until a policy says otherwise.
    await login(rig, session);
    await rig.submit(rig.root, "create_policy", sessionsRenewNothing);
    await assert.rejects(login(rig, session), /sufficient permissions/);
    await assert.rejects(rig.submit(session, "create_read_only_session", {}), /sufficient permissions/);
    const { claims } = await login(rig, bob);
    assert.equal(claims.user_id, bob.userId);
  });
}

/** IP allowlists through gateway and signer, on both databases. */
import assert from "node:assert/strict";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { p256 } from "@noble/curves/nist.js";
import { enableProxy, noCredentials } from "../../test/auth_proxy_rig.ts";
import type { GatewayRig, Person } from "../../test/gateway_rig.ts";
import { registeredPasskey, testPasskey } from "../../test/passkeys.ts";
import { done, onBothDatabases } from "../../test/policy_rig.ts";
import { newKey, query } from "../../test/session_rig.ts";

const inside = { address: "192.0.2.9" };
const outside = { address: "203.0.113.9" };
const rules = [{ cidr: "192.0.2.0/24", label: "Office" }];

let tags = 0;
const tag = () => ({ userTagName: `tag ${tags++}`, userIds: [] });

/** What came of a request: done, or its refusal. */
async function outcomeOf(request: Promise<unknown>): Promise<string> {
  try {
    await request;
    return "done";
  } catch (error) {
    return error instanceof Fault ? error.message : String(error);
  }
}

const refusal = "request not authorized: source IP not allowed";
const set = (rig: GatewayRig, params: object) => done(rig, rig.root, "set_ip_allowlist", params);
const from = (rig: GatewayRig, source: { address: string | undefined }) => Object.assign(rig, { source });

async function bothKinds(rig: GatewayRig, person: Person, organizationId = rig.organizationId): Promise<string[]> {
  const within = { organizationId };
  return [
    await outcomeOf(rig.submit(person, "create_user_tag", tag(), within)),
    await outcomeOf(query(rig, "whoami", within, person)),
  ];
}

onBothDatabases(
  "an enabled list lets requests in from its addresses alone, and the change counts at once",
  async (rig) => {
    const ann = await rig.newPerson("ann");
    await done(rig, rig.root, "create_policy", {
      policyName: "all",
      effect: "EFFECT_ALLOW",
      consensus: "true",
      condition: "true",
      notes: "",
    });
    from(rig, outside);
    assert.deepEqual(await bothKinds(rig, ann), ["done", "done"]);
    // It does not ask where its own caller is.
    await set(rig, { rules });
    assert.deepEqual(await bothKinds(rig, ann), [refusal, refusal]);
    assert.deepEqual(await bothKinds(rig, rig.root), [refusal, refusal], "the root quorum, too");
    from(rig, { address: undefined });
    assert.deepEqual(await bothKinds(rig, ann), [refusal, refusal], "an unknown address");
    from(rig, inside);
    assert.deepEqual(await bothKinds(rig, ann), ["done", "done"]);
    await done(rig, rig.root, "remove_ip_allowlist", {});
    from(rig, outside);
    assert.deepEqual(await bothKinds(rig, ann), ["done", "done"]);
  },
);

onBothDatabases("a key's own list counts in the place of the organization's", async (rig) => {
  const { publicKey, privateKey } = newKey();
  const apiKeys = [{ apiKeyName: "server", publicKey, curveType: "API_KEY_CURVE_P256" }];
  await done(rig, rig.root, "create_api_keys", { userId: rig.root.userId, apiKeys });
  const server = { ...rig.root, privateKey };
  await set(rig, { publicKey, rules: [{ cidr: "203.0.113.9/32" }] });
  from(rig, inside);
  await set(rig, { rules });
  assert.deepEqual(await bothKinds(rig, server), [refusal, refusal]);
  from(rig, outside);
  assert.deepEqual(await bothKinds(rig, server), ["done", "done"]);
  assert.deepEqual(await bothKinds(rig, rig.root), [refusal, refusal]);
  const asked = { organizationId: rig.organizationId, publicKey };
  const { allowlist } = await query<{ allowlist: object }>(rig, "get_ip_allowlist", asked, server);
  assert.partialDeepStrictEqual(allowlist, {
    publicKey,
    rules: [{ cidr: "203.0.113.9/32" }],
    onEvaluationError: "DENY",
  });
  assert.equal("enabled" in allowlist, false);
});

onBothDatabases("users of a sub-organization come from anywhere, users of its parent do not", async (rig) => {
  const child = await rig.newSubOrganization(1, ["ann"]);
  const [ann] = child.people;
  assert.ok(ann);
  from(rig, inside);
  await set(rig, { rules });
  from(rig, outside);
  const within = { organizationId: child.organizationId };
  assert.deepEqual(await bothKinds(rig, ann, child.organizationId), ["done", "done"]);
  assert.equal(await outcomeOf(query(rig, "list_users", within, rig.root)), refusal, "a parent reads its child");
  const mail = { email: "a@example.com", targetPublicKey: newKey().publicKey, emailCustomization: { appName: "App" } };
  assert.equal(
    await outcomeOf(rig.submit(rig.root, "email_auth", mail, within)),
    refusal,
    "a parent acts in its child",
  );
  assert.match(
    await outcomeOf(rig.submit(ann, "set_ip_allowlist", { enabled: true }, within)),
    /Refused|sub-organizations/,
  );
});

onBothDatabases(
  "a stranger at another address hears that it is one, and a repeated body is held to the list",
  async (rig) => {
    from(rig, inside);
    const body = rig.body("create_user_tag", tag());
    await rig.send(rig.root, "create_user_tag", body);
    await set(rig, { rules });
    from(rig, outside);
    assert.equal(await outcomeOf(rig.send(rig.root, "create_user_tag", body)), refusal);
    const stranger = { ...rig.root, privateKey: newKey().privateKey };
    for (const heard of await bothKinds(rig, stranger)) assert.match(heard, /could not find public key/);
    from(rig, inside);
    assert.equal(await outcomeOf(rig.send(rig.root, "create_user_tag", body)), "done");
  },
);

onBothDatabases("votes are held to the list, and a gateway that ignores lists asks nobody", async (rig) => {
  const ann = await rig.newPerson("ann");
  await done(rig, rig.root, "update_root_quorum", { threshold: 2, userIds: [rig.root.userId, ann.userId] });
  from(rig, inside);
  const waiting = await rig.submit(rig.root, "set_ip_allowlist", { rules });
  assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  const { fingerprint } = waiting;
  from(rig, outside);
  await rig.submit(ann, "approve_activity", { fingerprint });
  const second = await outcomeOf(rig.submit(ann, "approve_activity", { fingerprint }));
  assert.equal(second, refusal);
  Reflect.deleteProperty(rig, "source");
  assert.equal(await outcomeOf(rig.submit(ann, "create_user_tag", tag())), "done");
});

onBothDatabases("an empty list of a key is none, an empty list of the organization blocks everybody", async (rig) => {
  const ann = await rig.newPerson("ann");
  const publicKey = toHex(p256.getPublicKey(ann.privateKey));
  from(rig, inside);
  await set(rig, { publicKey, rules: [] });
  await set(rig, { rules });
  assert.equal(await outcomeOf(query(rig, "whoami", { organizationId: rig.organizationId }, ann)), "done");
  from(rig, outside);
  assert.equal(await outcomeOf(query(rig, "whoami", { organizationId: rig.organizationId }, ann)), refusal);
  from(rig, inside);
  await set(rig, { enabled: true, rules: [] });
  for (const source of [inside, outside, { address: undefined }]) {
    from(rig, source);
    assert.deepEqual(await bothKinds(rig, rig.root), [refusal, refusal]);
  }
});

onBothDatabases("an address that is not known passes where the list says so, and a known one does not", async (rig) => {
  from(rig, inside);
  await set(rig, { rules, onEvaluationError: "ALLOW" });
  from(rig, { address: undefined });
  assert.deepEqual(await bothKinds(rig, rig.root), ["done", "done"]);
  from(rig, outside);
  assert.deepEqual(await bothKinds(rig, rig.root), [refusal, refusal]);
});

onBothDatabases("whoever comes through the auth proxy is held to no list", async (rig) => {
  const proxy = await enableProxy(rig);
  from(rig, inside);
  await set(rig, { rules });
  from(rig, outside);
  const authenticators = [registeredPasskey(testPasskey(41), "phone")];
  const made = await proxy.call("signup_v2", { ...noCredentials, authenticators }, outside);
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const code = { otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" };
  assert.equal((await proxy.call("otp_init_v2", code, outside)).status, 200);
});

onBothDatabases("who has ended its own key hears its answer again from the list's addresses alone", async (rig) => {
  await set(rig, { rules });
  from(rig, inside);
  const { userId } = rig.root;
  const keys = rig.store.db.selectFrom("credentials").select("credential_id").where("user_id", "=", userId);
  const { credential_id: ownKey } = await keys.executeTakeFirstOrThrow();
  const publicKey = toHex(p256.getPublicKey(p256.utils.randomSecretKey()));
  const apiKeys = [{ apiKeyName: "another", publicKey, curveType: "API_KEY_CURVE_P256" }];
  await rig.submit(rig.root, "create_api_keys", { userId, apiKeys });
  const body = rig.body("delete_api_keys", { userId, apiKeyIds: [ownKey] });
  const first = await rig.send(rig.root, "delete_api_keys", body);
  assert.deepEqual(await rig.send(rig.root, "delete_api_keys", body), first);
  from(rig, outside);
  assert.notEqual(await outcomeOf(rig.send(rig.root, "delete_api_keys", body)), "done");
  from(rig, inside);
  assert.deepEqual(await rig.send(rig.root, "delete_api_keys", body), first);
});

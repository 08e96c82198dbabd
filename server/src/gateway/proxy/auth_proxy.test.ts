/** Sign-up and sign-in through the auth proxy, from its routes to the signer, on both databases. */
import assert from "node:assert/strict";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { patienceMs } from "../../../../core/test/patience.ts";
import { readProof, replayed } from "../../../test/app_proofs.ts";
import { enableProxy, noCredentials, openProxy, signUpKey } from "../../../test/auth_proxy_rig.ts";
import { userIn, versionOf } from "../../../test/code_login_rig.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import { Refused } from "../../../test/gateway_rig.ts";
import { onBothDatabasesWithLog } from "../../../test/leaf_checks.ts";
import { lastMessage } from "../../../test/mail_rig.ts";
import { impostorPasskey, passkeyEvidence, registeredPasskey, testPasskey } from "../../../test/passkeys.ts";
import { claimsOf, newKey } from "../../../test/session_rig.ts";
import { heldToken, loginSignature, signUpSignature } from "../../../test/verification_tokens.ts";
import { activities } from "../../generated/activities.ts";
import type { AppProof } from "../../state/app_proof.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { dialectOf } from "../../views/dialect.ts";
import { submit } from "../submit/submit.ts";
import { defaultBudgets } from "./address_budgets.ts";
import { createProxyTurns, type ProxyTurns, proxyTurnLimits } from "./proxy_turns.ts";

const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};
const wallet = { walletName: "Main", accounts: [ethereum], mnemonicLength: 24 };

type SignedUp = {
  organizationId: string;
  userId: string;
  wallet?: { walletId: string; addresses: string[] };
  appProofs: AppProof[];
};

onBothDatabasesWithLog(
  "a sign-up with passkey and wallet leaves the parent as it is, and its leaf says on what grounds",
  async (rig) => {
    const proxy = await enableProxy(rig);
    const before = await versionOf(rig, rig.organizationId);
    const key = newKey();
    const answer = await proxy.ok<SignedUp>("signup_v2", {
      ...noCredentials,
      userTag: "Mobile",
      apiKeys: [signUpKey(key, { expirationSeconds: "60" })],
      authenticators: [registeredPasskey(testPasskey(1), "phone")],
      wallet,
    });
    assert.deepEqual(Object.keys(answer), ["organizationId", "wallet", "userId", "appProofs"]);
    const [address, decision] = answer.appProofs.map(readProof);
    assert.deepEqual(address?.address, {
      organizationId: answer.organizationId,
      walletId: answer.wallet?.walletId,
      derivationPath: ethereum.path,
      address: answer.wallet?.addresses[0],
    });
    assert.equal(decision?.outcome?.outcome, "OUTCOME_ALLOW");
    assert.equal(await replayed(rig, rig.root, answer.appProofs[1]), "OUTCOME_ALLOW");
    assert.match(answer.wallet?.addresses[0] ?? "", /^0x/);
    assert.equal(await versionOf(rig, rig.organizationId), before);
    const user = await userIn(rig, answer.organizationId, answer.userId);
    assert.match(user.userName, /^user-[0-9]+$/);
    assert.deepEqual([user.userTags.length, user.authenticators?.length, user.apiKeys.length], [1, 1, 1]);
    assert.deepEqual([user.authenticators?.[0]?.proven, user.apiKeys[0]?.proven], [true, undefined]);
    const tags = await rig.store.db
      .selectFrom("user_tags")
      .select("tag_name")
      .where("organization_id", "=", answer.organizationId)
      .execute();
    assert.deepEqual(tags, [{ tag_name: "Mobile" }]);
    const [own] = await rig.store.db
      .selectFrom("activities")
      .innerJoin("leaves", "leaves.activity_id", "activities.activity_id")
      .select(["leaves.leaf", "activities.votes"])
      .where("activities.type", "=", "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8")
      .where("leaves.organization_id", "=", rig.organizationId)
      .execute();
    const leaf = decodeLeaf(withoutMac(Uint8Array.from(own?.leaf ?? [])));
    assert.deepEqual([leaf.grounds, leaf.evidence[0]?.content.kind], ["AUTH_PROXY", "authProxy"]);
    assert.equal(JSON.parse(own?.votes ?? "[]")[0].user.userId, proxy.userId);
    // The temporary key signs in, by the new organization's own id.
    const session = newKey();
    const person = { userId: answer.userId, userName: "", privateKey: key.privateKey };
    await rig.submit(
      person,
      "stamp_login",
      { publicKey: session.publicKey },
      { organizationId: answer.organizationId },
    );
  },
);

onBothDatabasesWithLog(
  "a code is sent, answered, signs up and signs in; the account is found by its contact",
  async (rig) => {
    const proxy = await enableProxy(rig);
    const contact = "Ann@Example.com";
    const { otpId } = await proxy.ok("otp_init", { otpType: "OTP_TYPE_EMAIL", contact });
    const { code } = await lastMessage(rig, rig.organizationId);
    const wrong = await proxy.call("otp_verify", { otpId, otpCode: "AAAAAAAAA" });
    assert.deepEqual([wrong.status, wrong.body.code], [400, 3]);
    assert.match(String(wrong.body.message), /Invalid OTP code/);
    const bound = heldToken(rig.signer);
    const verified = await proxy.ok("otp_verify", { otpId, otpCode: code, publicKey: bound.holder.publicKey });
    const [, payload = ""] = String(verified.verificationToken).split(".");
    const { id: tokenId } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const held = { ...bound, claims: { ...bound.claims, tokenId }, token: String(verified.verificationToken) };

    assert.deepEqual(await proxy.ok("account", { filterType: "EMAIL", filterValue: contact }), {});
    const early = await proxy.call("otp_login_v2", {
      verificationToken: held.token,
      publicKey: newKey().publicKey,
      clientSignature: loginSignature(held, newKey().publicKey),
    });
    assert.deepEqual([early.status, early.body.errorCode], [401, "CREDENTIAL_NOT_FOUND"]);

    const apiKeys = [signUpKey()];
    const signUp = { apiKeys, authenticators: [], oauthProviders: [], email: contact };
    const request = { ...noCredentials, apiKeys, userEmail: contact, verificationToken: held.token };
    const clientSignature = signUpSignature(held, "signupV2", signUp);
    const made = await proxy.ok<SignedUp>("signup_v2", { ...request, clientSignature });
    const user = await userIn(rig, made.organizationId, made.userId);
    assert.deepEqual([user.userName, user.emailVerified], [contact, { by: "code" }]);
    for (const filterValue of [contact, contact.toLowerCase()]) {
      const found = await proxy.ok("account", { filterType: "EMAIL", filterValue });
      assert.deepEqual(found, { organizationId: made.organizationId });
    }
    const session = newKey();
    const login = await proxy.ok("otp_login_v2", {
      verificationToken: held.token,
      publicKey: session.publicKey,
      clientSignature: loginSignature(held, session.publicKey),
    });
    assert.equal(claimsOf(String(login.session)).organization_id, made.organizationId);
    // Another sign-up with the same contact, by the same proof.
    const second = { ...request, organizationName: "again", clientSignature };
    const refused = await proxy.call("signup_v2", second);
    assert.deepEqual([refused.status, refused.body.code], [409, 6]);
  },
);

onBothDatabasesWithLog("equal bytes get the same answer, also at once and by another gateway", async (rig) => {
  const proxy = await enableProxy(rig);
  const other = openProxy(rig, proxy.configId, proxy.userId);
  const body = JSON.stringify({ ...noCredentials, authenticators: [registeredPasskey(testPasskey(2), "phone")] });
  const answers = await Promise.all([proxy, other, proxy, other].map((each) => each.ok("signup_v2", body)));
  assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
  assert.deepEqual(await other.ok("signup_v2", body), answers[0]);
  const [count] = await rig.store.db
    .selectFrom("organizations")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .execute();
  assert.equal(Number(count?.count), 2);
});

onBothDatabasesWithLog(
  "of sign-ups with one identity at once, one makes a sub-organization and the others get 409",
  async (rig) => {
    const proxy = await enableProxy(rig);
    const held = heldToken(rig.signer);
    const signUp = (index: number) => {
      const signed = { apiKeys: [], authenticators: [], oauthProviders: [], email: "ann@example.com" };
      return {
        ...noCredentials,
        userEmail: "ann@example.com",
        organizationName: `race ${index}`,
        verificationToken: held.token,
        clientSignature: signUpSignature(held, "signupV2", signed),
      };
    };
    const gateways = [0, 1, 2].map(() => openProxy(rig, proxy.configId, proxy.userId));
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, index) => gateways[index % 3]?.call("signup_v2", signUp(index))),
    );
    const statuses = answers.map((answer) => answer?.status).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 8 }, () => 409)]);
  },
);

onBothDatabasesWithLog(
  "a stranger's public key is registered by anyone, and counts for nobody until its holder signs in",
  async (rig) => {
    const proxy = await enableProxy(rig);
    const key = newKey();
    const made = await proxy.ok<SignedUp>("signup_v2", { ...noCredentials, apiKeys: [signUpKey(key)] });
    const find = () => proxy.ok("account", { filterType: "PUBLIC_KEY", filterValue: key.publicKey });
    assert.deepEqual(await find(), {});
    // Wallets stamp their first sign-in before there is an organization: it names the parent.
    const person = { userId: made.userId, userName: "", privateKey: key.privateKey };
    await rig.submit(person, "stamp_login", { publicKey: newKey().publicKey });
    assert.deepEqual(await find(), { organizationId: made.organizationId });
    const again = await proxy.call("signup_v2", { ...noCredentials, apiKeys: [signUpKey(key)], userName: "thief" });
    assert.equal(again.status, 409);
    // Much later such a sign-in proves nothing: somebody may have lured the holder there.
    const late = newKey();
    const other = await proxy.ok<SignedUp>("signup_v2", { ...noCredentials, apiKeys: [signUpKey(late)] });
    rig.signer.clock.nowMs += 6 * 60_000;
    const victim = { userId: other.userId, userName: "", privateKey: late.privateKey };
    await rig.submit(victim, "stamp_login", { publicKey: newKey().publicKey });
    assert.deepEqual(await proxy.ok("account", { filterType: "PUBLIC_KEY", filterValue: late.publicKey }), {});
  },
);

onBothDatabasesWithLog("whoever registers a wallet's key before its owner shares no account with them", async (rig) => {
  const proxy = await enableProxy(rig);
  const privateKey = secp256k1.utils.randomSecretKey();
  const publicKey = toHex(secp256k1.getPublicKey(privateKey));
  const apiKeys = [{ apiKeyName: "wallet", publicKey, curveType: "API_KEY_CURVE_SECP256K1" }];
  const authenticators = [registeredPasskey(testPasskey(7), "thief's")];
  const find = () => proxy.ok("account", { filterType: "PUBLIC_KEY", filterValue: publicKey });
  const signIn = async () => {
    const body = rig.body("stamp_login", { publicKey: newKey().publicKey });
    const evidence = stampEvidence(signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_SECP256K1", body));
    const answer = await submit(rig.dependencies, activities.stamp_login, { body, evidence }, dialectOf(undefined));
    if ("failure" in answer) throw new Refused(answer.failure);
    return answer.activity.organizationId;
  };
  await proxy.ok("signup_v2", { ...noCredentials, apiKeys, authenticators });
  await assert.rejects(signIn(), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.deepEqual(await find(), {});
  // A minute later: for so long it is taken for a race.
  await rig.store.db.deleteFrom("sign_up_claims").execute();
  const own = await proxy.ok<SignedUp>("signup_v2", { ...noCredentials, apiKeys, userName: "owner" });
  assert.equal(await signIn(), own.organizationId);
  assert.deepEqual(await find(), { organizationId: own.organizationId });
  const later = await proxy.call("signup_v2", { ...noCredentials, apiKeys, authenticators, userName: "thief" });
  assert.equal(later.status, 409);
  assert.equal(await signIn(), own.organizationId);
});

onBothDatabasesWithLog("a copied credential id leads only to the account it was first in", async (rig) => {
  const proxy = await enableProxy(rig);
  const filterValue = Buffer.from(testPasskey(0).credentialId).toString("base64url");
  const owner = { ...noCredentials, authenticators: [registeredPasskey(testPasskey(0), "own")] };
  const own = await proxy.ok<SignedUp>("signup_v2", owner);
  // Others have seen the id. The proxy lets none of them sign up with it; a parent's own server does not ask.
  const copies = ["eve", "mallory"].map((name) => registeredPasskey(impostorPasskey(0, name), name));
  const taken = await proxy.call("signup_v2", { ...noCredentials, authenticators: copies.slice(0, 1) });
  assert.equal(taken.status, 409);
  for (const copy of copies) {
    rig.signer.clock.nowMs += 1;
    const rootUsers = [{ userName: copy.authenticatorName, authenticators: [copy] }];
    const parameters = { subOrganizationName: copy.authenticatorName, rootUsers, rootQuorumThreshold: 1 };
    await rig.submit(rig.root, "create_sub_organization", parameters);
  }
  const { status, body } = await proxy.call("account", { filterType: "CREDENTIAL_ID", filterValue });
  assert.deepEqual([status, body], [200, { organizationId: own.organizationId }]);
});

onBothDatabasesWithLog("what a sign-up must not have is refused, and nothing is made", async (rig) => {
  const proxy = await enableProxy(rig);
  const held = heldToken(rig.signer);
  const unbound = heldToken(rig.signer, { unbound: true });
  const foreign = heldToken(rig.signer, { organizationId: "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11" });
  const email = { userEmail: "ann@example.com" };
  const key = signUpKey();
  const signed = { apiKeys: [key], authenticators: [], oauthProviders: [], email: "ann@example.com" };
  const cases: [what: string, path: string, body: object, status: number, message: RegExp][] = [
    ["no list", "signup_v2", { apiKeys: [], authenticators: [] }, 400, /missing field `oauthProviders`/],
    ["no credential", "signup_v2", noCredentials, 400, /user missing valid credential/],
    ["an unproved contact alone", "signup_v2", { ...noCredentials, ...email }, 400, /user missing valid credential/],
    [
      "only a key that ends",
      "signup_v2",
      { ...noCredentials, apiKeys: [{ ...key, expirationSeconds: "60" }] },
      400,
      /credential/,
    ],
    [
      "13 words",
      "signup_v2",
      { ...noCredentials, apiKeys: [key], wallet: { ...wallet, mnemonicLength: 13 } },
      400,
      /mnemonicLength/,
    ],
    [
      "a token that is bound to no key",
      "signup",
      { ...noCredentials, ...email, apiKeys: [key], verificationToken: unbound.token },
      400,
      /clientSignature/,
    ],
    [
      "another organization's token",
      "signup_v2",
      { ...noCredentials, ...email, verificationToken: foreign.token },
      400,
      /verification token/,
    ],
    [
      "a key that nobody signed for",
      "signup_v2",
      {
        ...noCredentials,
        ...email,
        apiKeys: [key, signUpKey()],
        verificationToken: held.token,
        clientSignature: signUpSignature(held, "signupV2", signed),
      },
      400,
      /differs from the request/,
    ],
    [
      "an identity provider",
      "signup_v2",
      { ...noCredentials, oauthProviders: [{ providerName: "g", oidcToken: "x" }] },
      400,
      /invalid OIDC token/,
    ],
    ["no kind of identity", "account", { filterType: "NICKNAME", filterValue: "x" }, 400, /invalid filter type/],
    ["an identity token", "account", { filterType: "OIDC_TOKEN", filterValue: "x" }, 400, /invalid OIDC token/],
    [
      "claims that are none",
      "account",
      { filterType: "OIDC_CLAIMS", filterValue: '{"iss":"x"}' },
      400,
      /iss, sub and aud/,
    ],
    ["identity sign-in", "oauth_login", {}, 400, /missing field `oidcToken`/],
    [
      "an unknown kind of code",
      "otp_init_v2",
      { otpType: "OTP_TYPE_PIGEON", contact: "a@example.com" },
      400,
      /otpType/,
    ],
  ];
  for (const [what, path, body, status, message] of cases) {
    const answer = await proxy.call(path, body);
    assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
    assert.match(String(answer.body.message), message, what);
  }
  const rows = await rig.store.db.selectFrom("organizations").select("organization_id").execute();
  assert.equal(rows.length, 1);
  assert.deepEqual(await rig.store.db.selectFrom("outbox").selectAll().execute(), []);
});

onBothDatabasesWithLog("configurations and origins: missing, unknown, disabled, not allowed", async (rig) => {
  const proxy = await enableProxy(rig);
  const call = (headers: Record<string, string>) => proxy.call("wallet_kit_config", "", { headers });
  const named = { "x-auth-proxy-config-id": proxy.configId };
  assert.equal((await call({})).status, 400);
  const unknown = await call({ "x-auth-proxy-config-id": "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11" });
  assert.deepEqual([unknown.status, unknown.body.message], [404, "auth proxy config not found"]);
  const kit = await call({ "x-auth-proxy-config-id": proxy.configId.toUpperCase() });
  assert.deepEqual(kit.body, {
    enabledProviders: ["email", "sms", "passkey", "wallet"],
    sessionExpirationSeconds: "900",
    organizationId: rig.organizationId,
    otpAlphanumeric: true,
    otpLength: "9",
  });
  assert.deepEqual((await proxy.call("wallet_kit_client_params", "")).body, {});
  const origin = "https://app.example.com";
  await rig.submit(rig.root, "update_auth_proxy_config", { allowedOrigins: [origin], allowedAuthMethods: ["passkey"] });
  const allowed = await call({ ...named, origin });
  assert.equal(allowed.headers["access-control-allow-origin"], origin);
  const refused = await call({ ...named, origin: `${origin}.evil.com` });
  assert.deepEqual([refused.status, refused.headers["access-control-allow-origin"]], [403, undefined]);
  assert.equal((await call(named)).status, 200, "native applications send no origin");
  const disallowed = await proxy.call("otp_init_v2", { otpType: "OTP_TYPE_EMAIL", contact: "a@example.com" });
  assert.deepEqual([disallowed.status, disallowed.body.code], [403, 7]);
  assert.match(String(disallowed.body.message), /^EMAIL disallowed/);
  await rig.submit(rig.root, "disable_auth_proxy", {});
  assert.equal((await call(named)).status, 403);
  await rig.submit(rig.root, "enable_auth_proxy", {});
  assert.equal((await call(named)).status, 200);
});

onBothDatabasesWithLog("policies can deny the proxy's user", async (rig) => {
  const proxy = await enableProxy(rig);
  await rig.submit(rig.root, "create_policy", {
    policyName: "no sign-ups",
    effect: "EFFECT_DENY",
    consensus: `approvers.any(user, user.id == '${proxy.userId}')`,
    condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'",
    notes: "",
  });
  const body = { ...noCredentials, authenticators: [registeredPasskey(testPasskey(3), "phone")] };
  const denied = await proxy.call("signup_v2", body);
  assert.deepEqual([denied.status, denied.body.code], [403, 7]);
  await proxy.ok("otp_init_v2", { otpType: "OTP_TYPE_EMAIL", contact: "a@example.com" });
});

onBothDatabasesWithLog("the proxy's user gets no credential, contact or seat, and stays", async (rig) => {
  const { userId } = await enableProxy(rig);
  const users = { userName: "Auth Proxy", userEmail: "a@example.com" };
  const attempts: [keyof typeof activities, object][] = [
    ["create_api_keys", { userId, apiKeys: [signUpKey()] }],
    ["create_authenticators", { userId, authenticators: [registeredPasskey(testPasskey(4), "phone")] }],
    ["update_user", { userId, ...users }],
    ["update_user_email", { userId, userEmail: "a@example.com" }],
    ["update_user_phone_number", { userId, userPhoneNumber: "+15551234567" }],
    ["update_root_quorum", { threshold: 1, userIds: [rig.root.userId, userId] }],
    ["delete_users", { userIds: [userId] }],
    ["create_read_write_session", { userId, targetPublicKey: newKey().publicKey }],
  ];
  for (const [path, parameters] of attempts) {
    await assert.rejects(rig.submit(rig.root, path, parameters), (error) => {
      assert.ok(error instanceof Refused || error instanceof Error, path);
      return true;
    });
  }
  const user = await userIn(rig, rig.organizationId, userId);
  assert.deepEqual(
    [user.apiKeys, user.authenticators, user.userEmail, user.userPhoneNumber],
    [[], undefined, undefined, undefined],
  );
});

onBothDatabasesWithLog("one address has its budgets, and two of a contact's live codes", async (rig) => {
  const proxy = await enableProxy(rig, { budgets: { ...defaultBudgets, signUps: 1, codes: 3 } });
  const start = (contact: string, address: string) =>
    proxy.call("otp_init_v2", { otpType: "OTP_TYPE_EMAIL", contact }, { address });
  const here = "203.0.113.7";
  assert.deepEqual(
    [(await start("a@example.com", here)).status, (await start("A@example.com", here)).status],
    [200, 200],
  );
  const third = await start("a@example.com", here);
  assert.equal(third.status, 429);
  assert.match(String(third.body.message), /Max number of OTPs have been initiated/);
  assert.equal((await start("b@example.com", here)).status, 429, "the budget of codes");
  assert.equal((await start("a@example.com", "203.0.113.8")).status, 200);
  const signUp = (n: number) =>
    proxy.call("signup_v2", { ...noCredentials, authenticators: [registeredPasskey(testPasskey(n), "phone")] });
  assert.deepEqual([(await signUp(5)).status, (await signUp(6)).status], [200, 429]);
});

onBothDatabasesWithLog("one address has its budgets of sign-ins and of look-ups", async (rig) => {
  const proxy = await enableProxy(rig, { budgets: { ...defaultBudgets, signIns: 2, lookUps: 1 } });
  const bodies = {
    oauth_login: { oidcToken: "x", publicKey: newKey().publicKey },
    oauth2_authenticate: {
      ...{ provider: "OAUTH2_PROVIDER_X", clientId: "c", authCode: "a", redirectUri: "https://app.example.com" },
      ...{ codeVerifier: "v".repeat(43), nonce: "n" },
    },
    account: { filterType: "EMAIL", filterValue: "ann@example.com" },
  };
  const statusAt = async (address: string, path: keyof typeof bodies) => {
    const { status, body } = await proxy.call(path, bodies[path], { address });
    if (status === 429) assert.deepEqual([body.code, body.errorCode], [8, "RATE_LIMIT_EXCEEDED"]);
    return status;
  };
  for (const here of ["203.0.113.7", "203.0.113.8"]) {
    assert.deepEqual(
      [
        await statusAt(here, "oauth_login"),
        await statusAt(here, "oauth2_authenticate"),
        await statusAt(here, "oauth_login"),
        await statusAt(here, "oauth2_authenticate"),
        await statusAt(here, "account"),
        await statusAt(here, "account"),
      ],
      [400, 404, 429, 429, 200, 429],
      here,
    );
  }
  const held = heldToken(rig.signer);
  const { publicKey } = newKey();
  const login = { verificationToken: held.token, publicKey, clientSignature: loginSignature(held, publicKey) };
  const verify = { otpId: crypto.randomUUID(), otpCode: "123456", encryptedOtpBundle: "{}" };
  const byCode: [path: string, body: object][] = [
    ["otp_verify", verify],
    ["otp_verify_v2", verify],
    ["otp_login", login],
    ["otp_login_v2", login],
  ];
  for (const [index, [path, body]] of byCode.entries()) {
    const address = `203.0.113.${20 + index}`;
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await proxy.call(path, body, { address })).status);
    const first = path.includes("login") ? 401 : 400;
    assert.deepEqual(statuses, [first, first, 429], path);
    assert.equal((await proxy.call("oauth_login", bodies.oauth_login, { address })).status, 429, "they share it");
  }
  assert.deepEqual(rig.issuers.asked, []);
});

onBothDatabasesWithLog(
  "with a spent budget nothing is read, of the body or from the database; without one nothing is taken by what is refused",
  async (rig) => {
    const { configId, userId } = await enableProxy(rig);
    const budgets = { signUps: 1, codes: 1, signIns: 1, lookUps: 1 };
    let reads = 0;
    const store = new Proxy(rig.store, {
      get(target, name, receiver) {
        reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const proxy = openProxy(rig, configId, userId, { budgets, store });
    const spends: Record<string, [path: string, body: object]> = {
      signUps: ["signup_v2", { ...noCredentials, authenticators: [registeredPasskey(testPasskey(8), "phone")] }],
      codes: ["otp_init_v2", { otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" }],
      signIns: ["oauth_login", { oidcToken: "x", publicKey: newKey().publicKey }],
      lookUps: ["account", { filterType: "EMAIL", filterValue: "ann@example.com" }],
    };
    for (const [budget, [path, body]] of Object.entries(spends)) {
      // As before: these have no request that could take one.
      assert.equal((await proxy.call(path, "{")).status, 400, budget);
      assert.equal((await proxy.call(path, body, { headers: {} })).status, 400, budget);
      assert.notEqual((await proxy.call(path, body)).status, 429, budget);
    }
    for (const path of proxy.paths.filter((each) => !each.startsWith("wallet_kit"))) {
      for (const [body, headers] of [["{"], ["{", {}]] as const) {
        reads = 0;
        const refused = await proxy.call(path, body, headers && { headers });
        assert.deepEqual([refused.status, refused.body.errorCode], [429, "RATE_LIMIT_EXCEEDED"], path);
        assert.equal(reads, 0, path);
      }
    }
    reads = 0;
    assert.equal((await proxy.call("wallet_kit_config", "")).status, 200);
    assert.notEqual(reads, 0, "what is read is counted");
  },
);

onBothDatabasesWithLog("an address has its requests read one at a time, and keeps no other waiting", async (rig) => {
  const { configId, userId } = await enableProxy(rig);
  const turns = createProxyTurns({ limits: { ...proxyTurnLimits, waitMs: patienceMs } });
  const [under, most]: [Set<string>, Map<string, number>] = [new Set(), new Map()];
  const watched: ProxyTurns = {
    ...turns,
    take: (address = "", bodyBytes, work) =>
      turns.take(address, bodyBytes, async () => {
        assert.ok(!under.has(address), `two of ${address} at once`);
        under.add(address);
        most.set(address, (most.get(address) ?? 0) + 1);
        return work().finally(() => under.delete(address));
      }),
  };
  const proxy = openProxy(rig, configId, userId, { turns: watched });
  const flood = Array.from({ length: 40 }, () => proxy.call("wallet_kit_config", ""));
  assert.equal((await proxy.call("wallet_kit_config", "", { address: "203.0.113.8" })).status, 200);
  assert.ok((most.get("203.0.113.7") ?? 0) < 40, "it waited for all of them");
  assert.deepEqual(new Set((await Promise.all(flood)).map(({ status }) => status)), new Set([200]));
});

onBothDatabasesWithLog("a place is not held while a captcha, or the signer, is waited for", async (rig) => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const check = async () => {
    asked.resolve();
    await answered.promise;
  };
  const { configId, userId } = await enableProxy(rig);
  await rig.submit(rig.root, "update_auth_proxy_config", { captchaEnabled: true });
  const proxy = openProxy(rig, configId, userId, { captcha: { siteKey: "site", check } });
  const headers = { "x-auth-proxy-config-id": configId, "x-captcha-token": "token" };
  const start = proxy.call("otp_init_v2", { otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" }, { headers });
  await asked.promise;
  assert.equal((await proxy.call("wallet_kit_config", "")).status, 200);
  answered.resolve();
  assert.equal((await start).status, 200);
});

onBothDatabasesWithLog(
  "a passkey that counts elsewhere is not signed up again, whoever sends its registration",
  async (rig) => {
    const proxy = await enableProxy(rig);
    const passkey = testPasskey(7);
    const body = { ...noCredentials, authenticators: [registeredPasskey(passkey, "phone")] };
    const made = await proxy.ok<SignedUp>("signup_v2", body);
    assert.equal((await proxy.call("signup_v2", { ...body, userName: "thief" })).status, 409);
    const filterValue = body.authenticators[0]?.attestation.credentialId;
    const found = await proxy.ok("account", { filterType: "CREDENTIAL_ID", filterValue });
    assert.deepEqual(found, { organizationId: made.organizationId });
    const login = rig.body("stamp_login", { publicKey: newKey().publicKey });
    const arrival = { body: login, evidence: passkeyEvidence(passkey, login) };
    const answer = await submit(rig.dependencies, activities.stamp_login as never, arrival, dialectOf(undefined));
    assert.equal("activity" in answer && answer.activity.organizationId, made.organizationId);
  },
);

/** A gateway that asks without a stamp for identities to be linked. It links what token, address and the parent's state link, and nothing else. */
import assert from "node:assert/strict";
import { Fault } from "@keystead/core/fault.ts";
import { nonceFor } from "../../../../core/test/oidc/test_issuer.ts";
import { enableProxy } from "../../../test/auth_proxy_rig.ts";
import { newHome, userIn } from "../../../test/code_login_rig.ts";
import type { GatewayRig, Person } from "../../../test/gateway_rig.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import { publicKeyOf } from "../../../test/session_rig.ts";
import { testIssuer, testIssuerKey, testToken } from "../../../test/test_issuers.ts";
import { submit } from "../../gateway/submit/submit.ts";
import { activities } from "../../generated/activities.ts";
import { linkedProviders } from "../../rules/auth_proxy_types.ts";
import { dialectOf } from "../../views/dialect.ts";

const google = "https://accounts.google.com";

/** What the gateway hears of a body that it wrote itself. */
async function ask(
  rig: GatewayRig,
  configId: string,
  organizationId: string,
  parameters: object,
  type = "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
): Promise<string> {
  const written = rig.body("create_oauth_providers", parameters, { organizationId });
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(written).toString("utf8")), type }));
  const arrival = { body, evidence: { kind: "authProxy", value: configId } as const };
  try {
    const answer = await submit(
      rig.dependencies,
      activities.create_oauth_providers as never,
      arrival,
      dialectOf(undefined),
    );
    return "failure" in answer ? answer.failure.message : answer.activity.status;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

onBothDatabases("a gateway that lies links no identity that the parent's state does not", async (rig) => {
  rig.issuers.publish(google, [testIssuerKey]);
  const { configId } = await enableProxy(rig);
  await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: ["own"] });
  const home = await newHome(rig, { userEmail: "ann@example.com" }, { userEmail: "bob@example.com" });
  const [ann, bob] = home.people as [Person, Person];
  const token = (changes: object = {}) =>
    testToken(rig.signer.clock.nowMs, {
      ...{ iss: google, sub: "ann", aud: "web", email: "ann@example.com", email_verified: true },
      ...changes,
    });
  // Ann herself has her address verified, by an identity at another application.
  const ofHerKey = token({ aud: "own", nonce: nonceFor(publicKeyOf(ann)) });
  const own = { userId: ann.userId, oauthProviders: [{ providerName: "g", oidcToken: ofHerKey }] };
  await rig.submit(ann, "create_oauth_providers", own, { organizationId: home.organizationId });
  assert.notEqual((await userIn(rig, home.organizationId, ann.userId)).emailVerified, undefined);
  const named = ["web", `${google}#app`, `${testIssuer}#web`];
  await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: named });
  const linked = (changes: object = {}) => ({ userId: ann.userId, oauthProviders: linkedProviders(token(changes)) });
  const [good] = linked().oauthProviders as [{ oidcToken: string }];
  const claims = { iss: google, sub: "ann", aud: "web" };
  const lies: [what: string, parameters: object, message: RegExp, organizationId?: string, type?: string][] = [
    ["an application that is not listed", linked({ aud: "evil" }), /not in socialLinkingClientIds/],
    [
      "an application that has a listed id at another issuer",
      linked({ iss: testIssuer, aud: "app" }),
      /not in socialLinkingClientIds: add `https:\/\/issuer\.example#app`/,
    ],
    ["an issuer that does not link", linked({ iss: testIssuer }), /a parent may only add/],
    ["another's address", linked({ email: "eve@example.com" }), /a parent may only add/],
    ["an address that nobody vouches for", linked({ email_verified: false }), /a parent may only add/],
    [
      "a user whose address is not verified",
      { ...linked({ email: "bob@example.com" }), userId: bob.userId },
      /only add/,
    ],
    ["another user than the address's", { ...linked(), userId: bob.userId }, /a parent may only add/],
    ["a name of its own", { ...linked(), oauthProviders: [{ ...good, providerName: "Bank" }] }, /one identity token/],
    ["two identities", { ...linked(), oauthProviders: [good, good] }, /one identity token/],
    [
      "claims beside the token",
      { ...linked(), oauthProviders: [good, { providerName: "x", oidcClaims: { ...claims, aud: "evil" } }] },
      /one identity token/,
    ],
    [
      "claims alone",
      { ...linked(), oauthProviders: [{ providerName: "x", oidcClaims: claims }] },
      /invalid OIDC token/,
    ],
    [
      "a forged token",
      { ...linked(), oauthProviders: linkedProviders(good.oidcToken.replace(/.{4}$/, "AAAA")) },
      /invalid/,
    ],
    ["the proxy's own organization", { ...linked(), userId: rig.root.userId }, /does not run in/, rig.organizationId],
    ["the older form", linked(), /needs a stamp/, home.organizationId, "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS"],
  ];
  for (const [what, parameters, message, organizationId = home.organizationId, type] of lies) {
    assert.match(await ask(rig, configId, organizationId, parameters, type), message, what);
  }
  const subjects = async (userId: string) =>
    ((await userIn(rig, home.organizationId, userId)).oauthProviders ?? []).map(({ audience }) => audience);
  assert.deepEqual([await subjects(ann.userId), await subjects(bob.userId)], [["own"], []]);
  await rig.submit(rig.root, "update_auth_proxy_config", { allowedAuthMethods: ["email"] });
  assert.match(await ask(rig, configId, home.organizationId, linked()), /^OAUTH disallowed/);
  await rig.submit(rig.root, "update_auth_proxy_config", { allowedAuthMethods: ["oauth"] });
  assert.equal(await ask(rig, configId, home.organizationId, linked()), "ACTIVITY_STATUS_COMPLETED");
  assert.deepEqual(await subjects(ann.userId), ["own", "web"]);
  await rig.submit(rig.root, "disable_auth_proxy", {});
  assert.match(await ask(rig, configId, home.organizationId, linked({ sub: "other" })), /disabled/);
});

/** Signing in by identities at other issuers: by the parent, and at an OAuth 2.0 provider whose codes are good once. */
import assert from "node:assert/strict";
import { loopbackIssuer } from "@keystead/e2e/identity/loopback_issuer.ts";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { fingerprintOf } from "@keystead/e2e/matrix/fixture.ts";
import { subjectOf } from "@keystead/e2e/matrix/identities.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import { type Act, bodyOf, checkOnce, isSealed, ownAct } from "./act.ts";
import { checkNotAbove } from "./sign_ins.ts";

export const signInByParent: Act = {
  name: "oauth_login by the parent",
  at: "sub",
  isSealed: isSealed("oauth_login"),
  async begin(fixture) {
    const { parent, sub } = fixture;
    const key = createKey();
    const subject = await subjectOf(fixture, sub);
    const { token } = await loopbackIssuer();
    const login = { oidcToken: token({ sub: subject }, key.publicKey), publicKey: key.publicKey };
    const sent = bodyOf("oauth_login", fixture, { ...login, expirationSeconds: "3600" });
    return {
      path: "oauth_login",
      caller: parent.root,
      body: JSON.stringify(sent),
      async check({ activity }) {
        assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
        assert.equal(activity.organizationId, sub.organizationId);
        const { userId } = await fixture.ask("whoami", {}, { ...sub.root, p256: key }, sub);
        assert.equal(userId, sub.root.userId);
        await checkOnce(fixture, sent);
        await checkNotAbove(fixture, fingerprintOf(sent));
      },
    };
  },
};

const plain = ownAct("oauth2_authenticate", activityTable.oauth2_authenticate);

/**
 * A courier that is killed takes with it what a code was exchanged for, and so does a gateway, whose courier ends with it. The provider does
 * not give it again. Then the user hears so, and signs in at the provider once more.
 */
export const authenticateAtProvider: Act = {
  ...plain,
  exchangesCode: true,
  async begin(fixture) {
    const deed = await plain.begin(fixture);
    const { oauth2CredentialId } = JSON.parse(deed.body).parameters;
    return {
      ...deed,
      mayBeRefused: /the provider refuses the authorization code/,
      tidy: () => fixture.done("delete_oauth2_credential", { oauth2CredentialId }).then(() => undefined),
    };
  },
};

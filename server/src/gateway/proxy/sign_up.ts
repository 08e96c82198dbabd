/** `signup` and `signup_v2`: a sub-organization with one root user, for somebody who has nothing here yet. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { SignUpRequestBody } from "../../fields/auth_proxy_requests.ts";
import { sha256 } from "../../state/digest.ts";
import { verifyIdentity } from "../evidence/read_identity.ts";
import type { LinkingDependencies } from "./linking.ts";
import type { ProxyConfig } from "./proxy_configs.ts";
import { submitProven } from "./proxy_submit.ts";
import { readProxyToken } from "./proxy_tokens.ts";
import { identitiesOf, identityText, refuseTakenIdentities } from "./sign_up_identities.ts";

type SignUpResult = {
  subOrganizationId: string;
  wallet?: { walletId: string; addresses: string[] };
  rootUserIds: [string];
};

/** `body`: the bytes as they came. The same again get the same answer for a day: a client that lost it must not be left with a 409. */
export async function signUp(
  dependencies: LinkingDependencies,
  config: ProxyConfig,
  { type, request, body }: { type: string; request: SignUpRequestBody; body: Uint8Array },
) {
  const { store, curves } = dependencies;
  const identities = identitiesOf(curves, request);
  const digest = toHex(sha256(body));
  const { result, appProofs } = await submitProven<SignUpResult>(dependencies, config, {
    type,
    generateAppProofs: true,
    chosen: toChosen(request, Date.now()),
    callersName: (path) => callersName(request, path),
    signUp: {
      identities: identities.map(identityText),
      async check() {
        // A token that anybody made up must not tell which identities there are.
        if (request.verificationToken) readProxyToken(dependencies, config, request.verificationToken);
        for (const { oidcToken } of request.oauthProviders) {
          if (oidcToken) await verifyIdentity(dependencies.issuers, oidcToken, Date.now());
        }
        await refuseTakenIdentities(store, config.organizationId, identities);
      },
      keyed: { idempotencyKey: `sign-up ${type} ${digest}`, request: digest },
    },
  });
  const { subOrganizationId, wallet, rootUserIds } = result;
  return { organizationId: subOrganizationId, ...(wallet && { wallet }), userId: rootUserIds[0], appProofs };
}

/** Bodies of sign-ups are flat, and of one user. What names a user without a name is what did not fit. */
function callersName({ userName, userEmail }: SignUpRequestBody, path: string): string {
  if (path === "subOrganizationName") return "organizationName";
  if (path !== "rootUsers.0.userName" || userName) return path.replace(/^rootUsers\.0\./, "");
  return userEmail ? "userEmail" : "userPhoneNumber";
}

/** Names that were left open are made up; what is empty was left open. */
function toChosen(request: SignUpRequestBody, nowMs: number): Record<string, unknown> {
  const { userName, userEmail, userPhoneNumber, userTag, organizationName, apiKeys, authenticators } = request;
  const { oauthProviders, wallet, verificationToken, clientSignature } = request;
  const user = {
    userName: userName || userEmail || userPhoneNumber || `user-${nowMs}`,
    ...(userEmail && { userEmail }),
    ...(userPhoneNumber && { userPhoneNumber }),
    ...(userTag && { userTag }),
    apiKeys,
    authenticators,
    oauthProviders,
  };
  return {
    subOrganizationName: organizationName || `sub-org-${nowMs}`,
    rootUsers: [user],
    ...(wallet && { wallet }),
    ...(verificationToken && { verificationToken }),
    ...(clientSignature && { clientSignature }),
  };
}

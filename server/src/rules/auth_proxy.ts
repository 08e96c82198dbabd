/**
 * The auth proxy of an organization: through it strangers sign up and in without a stamp. It holds no key and no rights of its own. Its
 * user serves policies and votes, and never has a credential, a contact or a seat in the quorum.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { Identity } from "@keystead/core/oidc/identity_claims.ts";
import { credentialsOf } from "../state/credentials.ts";
import {
  type AuthProxy,
  type AuthProxySettings,
  type Change,
  put,
  type Settings,
  type SocialProvider,
  type User,
} from "../state/entities.ts";
import type { Pages } from "../state/pages.ts";
import { isFeatureOn } from "./features.ts";

export const authProxyFeature = "FEATURE_NAME_AUTH_PROXY";

const userName = "Auth Proxy";

/** What a new auth proxy allows. */
const firstSettings: AuthProxySettings = {
  allowedOrigins: ["*"],
  allowedAuthMethods: ["email", "sms", "passkey", "wallet", "oauth"],
  enabledSocialProviders: [],
  oauthClientIds: {},
  otpExpirationSeconds: 300,
  verificationTokenExpirationSeconds: 3_600,
  sessionExpirationSeconds: 900,
  otpAlphanumeric: true,
  otpLength: 9,
  verificationTokenRequiredForGetAccountPii: false,
  socialLinkingClientIds: [],
  captchaEnabled: false,
};

/** The changes that bring an auth proxy into an organization. Whether it is on is the settings' to say. */
export function newAuthProxy({ configId, userId }: Pick<AuthProxy, "configId" | "userId">, nowMs: number): Change[] {
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  return [
    put("user", { userId, userName, userTags: [], apiKeys: [], ...times }),
    put("authProxy", { configId, userId, settings: firstSettings, ...times }),
  ];
}

/** The organization's own, whether it is on or not; undefined where it was never enabled. */
export function findAuthProxy({ authProxies }: Pick<Pages, "authProxies">): AuthProxy | undefined {
  const [proxy] = authProxies.values();
  return proxy;
}

export function getAuthProxy(pages: Pick<Pages, "authProxies">): AuthProxy {
  const proxy = findAuthProxy(pages);
  if (proxy !== undefined) return proxy;
  throw new Fault("failed_precondition", "this organization has no auth proxy: enable it with enable_auth_proxy");
}

export function withAuthProxyFeature(settings: Settings, isOn: boolean, nowMs: number): Settings {
  const others = settings.features.filter(({ name }) => name !== authProxyFeature);
  const features = isOn ? [...others, { name: authProxyFeature }] : others;
  return { ...settings, features, updatedAtMs: nowMs };
}

/**
 * An application at its issuer. A client id alone names none: some issuers let anybody choose theirs, and an application of the same id
 * elsewhere is somebody else's, who gets tokens of its visitors with nonces of their own choice. No issuer has a `#` in its name.
 */
export function clientAt({ issuer, audience }: Pick<Identity, "issuer" | "audience">): string {
  return `${issuer}#${audience}`;
}

/** Where the client ids of providers are. X and Discord are no issuers: their tokens are made by this server. */
const socialIssuers: Readonly<Partial<Record<SocialProvider, string>>> = {
  google: "https://accounts.google.com",
  apple: "https://appleid.apple.com",
  facebook: "https://www.facebook.com",
};

const withIssuer = /^https?:\/\/[^#]+#/;

/** The applications whose tokens link accounts. Clients write ids alone, which are those at the one linking issuer, if there is one. */
export function linkingClients(
  { socialLinkingClientIds }: Pick<AuthProxySettings, "socialLinkingClientIds">,
  linkingIssuers: ReadonlySet<string>,
): readonly string[] {
  const [issuer, ...others] = linkingIssuers;
  return socialLinkingClientIds.flatMap((entry) => {
    if (withIssuer.test(entry)) return [entry];
    return issuer === undefined || others.length > 0 ? [] : [clientAt({ issuer, audience: entry })];
  });
}

/** The applications at issuers that an organization has named as its own: tokens for others were asked for by somebody else. */
export function ownClientsOf(
  pages: Pick<Pages, "authProxies">,
  linkingIssuers: ReadonlySet<string>,
): readonly string[] {
  const settings = findAuthProxy(pages)?.settings;
  return settings === undefined ? [] : namedClients(settings, linkingIssuers);
}

export function namedClients(
  settings: Pick<AuthProxySettings, "oauthClientIds" | "socialLinkingClientIds">,
  linkingIssuers: ReadonlySet<string>,
): readonly string[] {
  const social = Object.entries(settings.oauthClientIds).flatMap(([name, audience]) => {
    const issuer = socialIssuers[name as SocialProvider];
    return issuer === undefined ? [] : [clientAt({ issuer, audience })];
  });
  return [...social, ...linkingClients(settings, linkingIssuers)];
}

/** Throws where the proxy is off, whatever was asked of it. */
export function refuseDisabledProxy(settings: Settings): void {
  if (isFeatureOn(settings, authProxyFeature)) return;
  throw new Fault("permission_denied", "the auth proxy of this organization is disabled", {
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
}

/**
 * Refuses what would give the proxy's user anything to act with, or take the user away. Asked about the changes of every activity: so no
 * activity, of today or later, has to remember it.
 */
export function refuseProxyRights(pages: Pick<Pages, "authProxies">, changes: readonly Change[]): void {
  const added = changes.flatMap((change) => (change.kind === "authProxy" && change.op === "put" ? [change.value] : []));
  const proxies = [...pages.authProxies.values(), ...added];
  if (proxies.length === 0) return;
  const isProxy = (userId: string) => proxies.some((proxy) => proxy.userId === userId);
  for (const change of changes) {
    if (change.kind === "user") {
      if (change.op === "remove" && isProxy(change.id)) throw proxyUser("cannot be deleted");
      if (change.op === "put" && isProxy(change.value.userId)) refuseRightsOf(change.value);
    }
    if (change.kind === "rootQuorum" && change.op === "put" && change.value.userIds.some(isProxy)) {
      throw proxyUser("cannot be a member of the root quorum");
    }
  }
}

function refuseRightsOf(user: User): void {
  if (credentialsOf(user).length > 0) throw proxyUser("cannot have a credential");
  if (user.userEmail !== undefined || user.userPhoneNumber !== undefined) throw proxyUser("cannot have a contact");
}

function proxyUser(what: string): Fault {
  return new Fault(
    "invalid_argument",
    `the user of the auth proxy ${what}; to end what it does, use disable_auth_proxy`,
  );
}

/** Its users sign up below it: only an organization without a parent has an auth proxy. */
export function refuseInSubOrganization({ parentId }: { parentId: string | undefined }): void {
  if (parentId === undefined) return;
  throw new Fault("permission_denied", "only an organization without a parent has an auth proxy", {
    errorCode: "INVALID_ACTIVITY_CALLER",
  });
}

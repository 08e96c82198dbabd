/**
 * What the auth proxy may ask for without a stamp: these types and no others. The gateway writes the parameters and the signer reads them
 * here again: what the person at the proxy chooses, and beside it exactly what the configuration says. So a gateway that lies can send
 * nothing that a stranger at the proxy could not have sent.
 */
import { Fault } from "@keystead/core/fault.ts";
import { parseIdentityToken } from "@keystead/core/oidc/identity_token.ts";
import { isOtpType, otpTypes } from "@keystead/core/otp/otp_types.ts";
import { parseVerificationToken } from "@keystead/core/otp/verification_token.ts";
import type { AuthMethod, AuthProxySettings } from "../state/entities.ts";
import { clientAt, linkingClients, namedClients } from "./auth_proxy.ts";

/** What of the parent decides about a request of its proxy. */
export type ProxyFacts = { settings: AuthProxySettings; organizationName: string };

type CheckedFacts = ProxyFacts & { linkingIssuers: ReadonlySet<string> };

type Parameters = Readonly<Record<string, unknown>>;

type ProxyType = {
  /** Where it runs: users sign up below the proxy's organization and sign in there. Its own users never sign in through it. */
  place: "own" | "sub-organization";
  /** Parameters that the person at the proxy chooses. */
  chosen: readonly string[];
  /** All others. */
  fixed(facts: ProxyFacts): Parameters;
  /** The methods of which one must be allowed; all lists must have one. */
  methods(chosen: Parameters): readonly (readonly AuthMethod[])[];
  /** Throws where the chosen parameters ask for more than a sign-up may. */
  check?(chosen: Parameters, facts: CheckedFacts): void;
};

const startCode: ProxyType = {
  place: "own",
  chosen: ["otpType", "contact"],
  fixed: codeParameters,
  methods: ({ otpType }) => [methodsOfType(otpType)],
};

const login: ProxyType = {
  place: "sub-organization",
  chosen: ["verificationToken", "publicKey", "clientSignature", "invalidateExisting"],
  fixed: ({ settings }) => ({ expirationSeconds: String(settings.sessionExpirationSeconds) }),
  methods: ({ verificationToken }) => [methodsOfToken(verificationToken)],
};

const identityLogin: ProxyType = {
  place: "sub-organization",
  chosen: ["oidcToken", "publicKey", "invalidateExisting"],
  fixed: ({ settings }) => ({ expirationSeconds: String(settings.sessionExpirationSeconds) }),
  methods: () => [["oauth"]],
};

/**
 * Whoever is known below by an e-mail address gets the identity of that address. Whose address it is and who vouches for it is asked where a
 * parent adds identities (`refuseUnlessLinked`). Here: only an identity at an application of the organization's own. Else any application of
 * the same issuer could add the identities of its visitors, and then sign in as them with whatever nonces it asks for.
 */
const linkIdentity: ProxyType = {
  place: "sub-organization",
  chosen: ["userId", "oauthProviders"],
  fixed: () => ({}),
  methods: () => [["oauth"]],
  check({ oauthProviders }, { settings, linkingIssuers }) {
    const [first] = Array.isArray(oauthProviders) ? (oauthProviders as { oidcToken?: unknown }[]) : [];
    const oidcToken = String(first?.oidcToken);
    if (!isSame(oauthProviders, linkedProviders(oidcToken))) throw notThrough("one identity token is linked at a time");
    const client = clientAt(parseIdentityToken(oidcToken).claims);
    if (linkingClients(settings, linkingIssuers).includes(client)) return;
    throw notThrough(
      `the \`aud\` of the OIDC token is not in socialLinkingClientIds: add \`${client}\` with update_auth_proxy_config`,
    );
  },
};

/** The parameter of an identity that is linked. Its name is its issuer's, because nobody is there to choose one. */
export function linkedProviders(oidcToken: string): object[] {
  const { issuer } = parseIdentityToken(oidcToken).claims;
  return [{ providerName: issuer.replace(/^https?:\/\//, "").slice(0, 255), oidcToken }];
}

/**
 * The token that comes of it is bound to a key by its nonce: who reads it on its way signs in with no other. The nonce itself is the
 * gateway's word here, as all of the body is, and so is the code (docs/decisions/0064).
 */
const providerSignIn: ProxyType = {
  place: "own",
  chosen: ["oauth2CredentialId", "authCode", "redirectUri", "codeVerifier", "nonce"],
  fixed: () => ({}),
  methods: () => [["oauth"]],
};

const signUp: ProxyType = {
  place: "own",
  chosen: ["subOrganizationName", "rootUsers", "wallet", "verificationToken", "clientSignature"],
  fixed: () => ({ rootQuorumThreshold: 1 }),
  methods: methodsOfSignUp,
  check({ rootUsers, clientSignature }, facts) {
    if (!Array.isArray(rootUsers) || rootUsers.length !== 1) throw notThrough("a sign-up makes one root user");
    if (clientSignature === undefined || clientSignature === null) checkClaimedAudiences(rootUsers[0], facts);
  },
};

const verifyCode = (answer: readonly string[]): ProxyType => ({
  place: "own",
  chosen: ["otpId", ...answer],
  fixed: ({ settings }) => ({ expirationSeconds: String(settings.verificationTokenExpirationSeconds) }),
  methods: () => [["email", "sms"]],
});

/** By the exact type. */
const proxyTypes: Readonly<Record<string, ProxyType>> = {
  ACTIVITY_TYPE_INIT_OTP_V2: startCode,
  ACTIVITY_TYPE_INIT_OTP_V3: startCode,
  ACTIVITY_TYPE_VERIFY_OTP: verifyCode(["otpCode", "publicKey"]),
  ACTIVITY_TYPE_VERIFY_OTP_V2: verifyCode(["encryptedOtpBundle"]),
  ACTIVITY_TYPE_OTP_LOGIN: login,
  ACTIVITY_TYPE_OTP_LOGIN_V2: login,
  ACTIVITY_TYPE_OAUTH_LOGIN: identityLogin,
  ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2: linkIdentity,
  ACTIVITY_TYPE_OAUTH2_AUTHENTICATE: providerSignIn,
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: signUp,
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8: signUp,
};

export const proxyTypeNames: readonly string[] = Object.keys(proxyTypes);

/** The parameters of an activity: what was chosen, where it was given, and what the configuration says. For the gateway. */
export function proxyParameters(type: string, chosen: Parameters, facts: ProxyFacts): Parameters {
  const row = getRow(type);
  const given = Object.entries(chosen).filter(([name, value]) => row.chosen.includes(name) && value !== undefined);
  return { ...Object.fromEntries(given), ...row.fixed(facts) };
}

/** For the signer: throws where this type or these parameters do not go through the proxy, or the configuration allows no such method. */
export function checkProxyRequest(
  type: string,
  parameters: Parameters,
  facts: CheckedFacts & { isInSubOrganization: boolean },
): void {
  const row = getRow(type);
  if ((row.place === "sub-organization") !== facts.isInSubOrganization) {
    throw notThrough(`${type} does not run in this organization`);
  }
  const fixed = row.fixed(facts);
  for (const [name, value] of Object.entries(parameters)) {
    if (row.chosen.includes(name)) continue;
    if (!Object.hasOwn(fixed, name) || !isSame(value, fixed[name])) {
      throw notThrough(`\`${name}\` is not what the auth proxy's configuration says`);
    }
  }
  const missing = Object.keys(fixed).find((name) => !Object.hasOwn(parameters, name));
  if (missing !== undefined) throw notThrough(`\`${missing}\` is missing`);
  row.check?.(parameters, facts);
  for (const methods of row.methods(parameters)) refuseDisallowed(methods, facts.settings);
}

/** Throws where the configuration allows none of these methods. */
export function refuseDisallowed(
  methods: readonly AuthMethod[],
  { allowedAuthMethods }: Pick<AuthProxySettings, "allowedAuthMethods">,
): void {
  if (!methods.some((method) => allowedAuthMethods.includes(method))) throw disallowed(methods);
}

function getRow(type: string): ProxyType {
  const row = Object.hasOwn(proxyTypes, type) ? proxyTypes[type] : undefined;
  if (row === undefined) throw notThrough(`${type} needs a stamp`);
  return row;
}

/** Both were read from, or written for, JSON without optional members: members in the same order are the same text. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function codeParameters({ settings, organizationName }: ProxyFacts): Parameters {
  const { emailCustomization = {}, smsTemplate, otpTemplateId } = settings;
  const { appName, ...mail } = emailCustomization;
  const templateId = mail.templateId ?? otpTemplateId;
  const customization = { ...mail, ...(templateId !== undefined && { templateId }) };
  const { sendFromEmailAddress, sendFromEmailSenderName, replyToEmailAddress } = settings;
  return {
    appName: appName ?? organizationName,
    otpLength: settings.otpLength,
    alphanumeric: settings.otpAlphanumeric,
    expirationSeconds: String(settings.otpExpirationSeconds),
    ...(Object.keys(customization).length > 0 && { emailCustomization: customization }),
    ...(smsTemplate !== undefined && { smsCustomization: { template: smsTemplate } }),
    ...(sendFromEmailAddress !== undefined && { sendFromEmailAddress }),
    ...(sendFromEmailSenderName !== undefined && { sendFromEmailSenderName }),
    ...(replyToEmailAddress !== undefined && { replyToEmailAddress }),
  };
}

/** The methods that a type of code belongs to. Of a word that is no type, reading the request says what is wrong. */
function methodsOfType(otpType: unknown): readonly AuthMethod[] {
  if (typeof otpType !== "string" || !isOtpType(otpType)) return ["email", "sms"];
  return [otpTypes[otpType].contact === "email" ? "email" : "sms"];
}

/** A token that cannot be read is refused where it is used. */
function methodsOfToken(token: unknown): readonly AuthMethod[] {
  try {
    return methodsOfType(parseVerificationToken(String(token)).verificationType);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return ["email", "sms"];
  }
}

type SignUpUser = {
  apiKeys?: { curveType?: string }[];
  authenticators?: unknown[];
  oauthProviders?: { oidcClaims?: { iss?: string; aud?: string } | null }[] | null;
};

/**
 * Claims without a token name the same person at another application, and no nonce covers them. So that application must be the
 * organization's own: else whoever writes the sign-up could let in an application of theirs, with whatever nonces it asks for.
 */
function checkClaimedAudiences({ oauthProviders }: SignUpUser, { settings, linkingIssuers }: CheckedFacts): void {
  const own = namedClients(settings, linkingIssuers);
  for (const { oidcClaims } of oauthProviders ?? []) {
    if (oidcClaims === undefined || oidcClaims === null) continue;
    const client = clientAt({ issuer: String(oidcClaims.iss), audience: String(oidcClaims.aud) });
    if (own.includes(client)) continue;
    throw notThrough(
      `the \`aud\` of oidcClaims is not a client of this organization: add \`${client}\` to socialLinkingClientIds with ` +
        "update_auth_proxy_config",
    );
  }
}

/** Keys of external wallets are on the curves of chains. A sign-up with nothing but a key is one by a wallet, whatever its curve. */
function methodsOfSignUp({ rootUsers, verificationToken }: Parameters): readonly (readonly AuthMethod[])[] {
  const [user = {}] = rootUsers as readonly SignUpUser[];
  const { apiKeys, authenticators, oauthProviders } = user;
  const has = (list: readonly unknown[] | undefined | null) => (list ?? []).length > 0;
  const isByToken = typeof verificationToken === "string" && verificationToken !== "";
  const isByWallet = (apiKeys ?? []).some(({ curveType }) => curveType !== "API_KEY_CURVE_P256");
  const needed: AuthMethod[][] = [];
  if (isByToken) needed.push([...methodsOfToken(verificationToken)]);
  if (has(authenticators)) needed.push(["passkey"]);
  if (has(oauthProviders)) needed.push(["oauth"]);
  if (isByWallet || needed.length === 0) needed.push(["wallet"]);
  return needed;
}

function notThrough(why: string): Fault {
  return new Fault("permission_denied", `request not authorized through the auth proxy: ${why}`, {
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
}

/** Clients match the beginning. */
function disallowed(methods: readonly AuthMethod[]): Fault {
  const names = methods.map((method) => method.toUpperCase()).join(" and ");
  return new Fault(
    "permission_denied",
    `${names} disallowed: allow it in allowedAuthMethods with update_auth_proxy_config`,
    { errorCode: "REQUEST_NOT_AUTHORIZED" },
  );
}

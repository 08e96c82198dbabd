/** Sessions, codes and identities. */
import { randomUUID } from "node:crypto";
import { loopbackIssuer } from "../../identity/loopback_issuer.ts";
import { authenticatorParams } from "../../passkeys.ts";
import type { ActivityPath, Tenant } from "../tenant.ts";
import { type CourseOf, type Flood, flood, submitting } from "./flood.ts";
import { apiKey, point, target } from "./parts.ts";

/** As long as one may be: read whole, and then of no issuer. */
export const longIdentityToken = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.${"A".repeat(11_000)}.${"A".repeat(512)}`;

/** A token that cannot be read, and the longest text that its key could have signed. */
export const longVerification = () => ({
  verificationToken: `${"eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9."}${"A".repeat(3_900)}.${"A".repeat(86)}`,
  clientSignature: {
    publicKey: apiKey().publicKey,
    scheme: "CLIENT_SIGNATURE_SCHEME_API_P256",
    message: " ".repeat(58_000),
    signature: "ab".repeat(64),
  },
});

/** Why a flood of codes ends soon. */
const codesPerHour = "users of a sub-organization start a thousand codes in an hour, and a contact has three";
/** Why nobody can have many of them. */
const mailed = "each needs a code that was mailed: one that nobody sent is read, looked for and refused";

/** Everybody has an address, so that a thousand mails can be asked for. */
async function addresses({ act, roots }: Tenant): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: 10 }, async (_, part) => {
      const users = Array.from({ length: part === 9 ? 60 : 100 }, () => ({
        ...{ userName: randomUUID(), userEmail: `${randomUUID()}@example.com`, apiKeys: [apiKey({})] },
        ...{ authenticators: [], oauthProviders: [], userTags: [] },
      }));
      await act("create_users", { users });
      return users.map(({ userEmail }) => userEmail);
    }),
  );
  return made.flat().slice(0, 1_000 - roots.length);
}

/** A mail to one after the other. */
function mailing(make: (address: string) => object, path: ActivityPath): Flood {
  return {
    refused: codesPerHour,
    async begin(tenant) {
      const known = await addresses(tenant);
      let turn = 0;
      return submitting(path, () => make(known[turn++ % known.length] ?? ""));
    },
  };
}

const mailedKey = (email: string) => ({
  email,
  ...target(),
  emailCustomization: { appName: "x".repeat(255) },
});

/** Tokens of an issuer that the attacker runs, for an identity of each connection's own user. */
function byIdentity(courseOf: (token: (publicKey: string, index: number) => string) => CourseOf): Flood {
  return {
    async begin(tenant) {
      const { token } = await loopbackIssuer();
      const subjects = tenant.roots.map(() => randomUUID());
      const pad = "x".repeat(6_000);
      await Promise.all(
        tenant.roots.map((by, index) => {
          const oauthProviders = [{ providerName: "Own", oidcToken: token({ sub: subjects[index] }) }];
          return tenant.act("create_oauth_providers", { userId: by.userId, oauthProviders }, { by });
        }),
      );
      return courseOf((publicKey, index) => token({ sub: subjects[index], pad }, publicKey));
    },
  };
}

export const signInFloods = {
  create_read_only_session: flood(submitting("create_read_only_session", () => ({}))),
  create_read_write_session: flood(submitting("create_read_write_session", target)),
  stamp_login: flood(submitting("stamp_login", () => ({ publicKey: point() }))),
  oauth_login: byIdentity((token) =>
    submitting("oauth_login", ({ index }) => {
      const publicKey = point();
      return { oidcToken: token(publicKey, index), publicKey };
    }),
  ),
  oauth: byIdentity((token) =>
    submitting("oauth", ({ index }) => {
      const { targetPublicKey } = target();
      return { oidcToken: token(targetPublicKey, index), targetPublicKey };
    }),
  ),
  otp_login: flood(
    submitting("otp_login", () => ({ ...longVerification(), publicKey: point() })),
    { refused: mailed },
  ),
  verify_otp: flood(
    submitting("verify_otp", () => ({ otpId: randomUUID(), encryptedOtpBundle: "x".repeat(10_000) })),
    { refused: mailed },
  ),
  otp_auth: flood(
    submitting("otp_auth", () => ({ otpId: randomUUID(), otpCode: "0".repeat(256), ...target() })),
    { refused: mailed },
  ),
  recover_user: flood(
    submitting("recover_user", ({ user: { userId } }) => ({ userId, authenticator: authenticatorParams() })),
    { refused: "only the key that a recovery mail brings may do it" },
  ),
  // A contact has few live codes, so each has its own.
  init_otp: flood(
    submitting("init_otp", () => ({
      otpType: "OTP_TYPE_EMAIL",
      contact: `${randomUUID()}@example.com`,
      appName: "x".repeat(255),
    })),
    { refused: codesPerHour },
  ),
  init_otp_auth: mailing(
    (contact) => ({
      ...{ otpType: "OTP_TYPE_EMAIL", contact, appName: "x".repeat(255) },
    }),
    "init_otp_auth",
  ),
  email_auth: mailing(mailedKey, "email_auth"),
  init_user_email_recovery: mailing(mailedKey, "init_user_email_recovery"),
} satisfies Partial<Record<ActivityPath, Flood>>;

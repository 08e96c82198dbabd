/** Passkeys and codes through the auth proxy, with `@turnkey/core` as it is on npm. */
import { OtpType } from "@turnkey/core";
import { encryptOtpCodeToBundle } from "@turnkey/crypto";
import { otpKey } from "./application.ts";
import { client, createSubOrgParams, signedInSteps } from "./proxy_client.ts";
import { offerSteps } from "./steps.ts";

const otpType = OtpType.Email;

/** The key that tokens are bound to; it becomes the session's. */
let tokenKey = "";

const steps = {
  ...signedInSteps,
  kit: () => client.httpClient.proxyGetWalletKitConfig({}),
  async signUpWithPasskey() {
    const { sessionToken } = await client.signUpWithPasskey({
      passkeyDisplayName: "Laptop",
      createSubOrgParams: { userName: "Ann", ...createSubOrgParams },
    });
    return { sessionToken };
  },
  logInWithPasskey: () => client.loginWithPasskey({}),
  /** In the plain: the published client encrypts to the hosted service's key alone. */
  startCode: (contact: string) => client.httpClient.proxyInitOtp({ otpType, contact }),
  async verifyCode(otpId: string, otpCode: string) {
    tokenKey = await client.createApiKeyPair();
    const { verificationToken } = await client.httpClient.proxyVerifyOtp({ otpId, otpCode, publicKey: tokenKey });
    return verificationToken;
  },
  startEncryptedCode: (contact: string) => client.httpClient.proxyInitOtpV2({ otpType, contact }),
  async verifyEncryptedCode(otpId: string, bundle: string, otpCode: string) {
    tokenKey = await client.createApiKeyPair();
    const encryptedOtpBundle = await encryptOtpCodeToBundle(otpCode, bundle, tokenKey, otpKey);
    return (await client.httpClient.proxyVerifyOtpV2({ otpId, encryptedOtpBundle })).verificationToken;
  },
  async signUpWithCode(verificationToken: string, contact: string) {
    const { sessionToken } = await client.signUpWithOtp({ verificationToken, contact, otpType, createSubOrgParams });
    return { sessionToken };
  },
  logInWithCode: (verificationToken: string) => client.loginWithOtp({ verificationToken }),
  /** Trusts the hosted service's key, unless the page was bundled with ours. */
  completeOtp: (contact: string, otpId: string, otpEncryptionTargetBundle: string, otpCode: string) =>
    client.completeOtp({ otpId, otpCode, otpEncryptionTargetBundle, contact, otpType, createSubOrgParams }),
  initOtp: (contact: string) => client.initOtp({ otpType, contact }),
  /** Binds the token to the session's key, or to a new one. */
  async verifyOtp(otpId: string, otpEncryptionTargetBundle: string, otpCode: string, bySession: boolean) {
    const session = bySession ? await client.getSession() : undefined;
    const publicKey = session?.publicKey;
    const ownKey = publicKey === undefined ? {} : { publicKey };
    const answer = await client.verifyOtp({ otpId, otpCode, otpEncryptionTargetBundle, ...ownKey });
    return answer.verificationToken;
  },
  updateUserEmail: (email: string, verificationToken: string) => client.updateUserEmail({ email, verificationToken }),
  account: (contact: string) => client.httpClient.proxyGetAccount({ filterType: "EMAIL", filterValue: contact }),
};

export type AuthProxySteps = typeof steps;
offerSteps(steps);

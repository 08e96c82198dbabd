/** `@turnkey/core` with the auth proxy: nobody's server signs its users up. */
import { TurnkeyClient } from "@turnkey/core";
import { encryptOtpCodeToBundle } from "@turnkey/crypto";
import { authProxyConfigId, authProxyUrl, baseUrl, otpKey, parentId, rpId } from "./application.ts";
import { offerSteps } from "./steps.ts";

const client = new TurnkeyClient({
  apiBaseUrl: baseUrl,
  organizationId: parentId,
  authProxyUrl,
  authProxyConfigId,
  passkeyConfig: { rpId },
});
await client.init();

const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const;

const otpType = "OTP_TYPE_EMAIL";

/** The key that tokens are bound to; it becomes the session's. */
let tokenKey = "";

const steps = {
  kit: () => client.httpClient.proxyGetWalletKitConfig({}),
  async signUpWithPasskey() {
    const { sessionToken } = await client.signUpWithPasskey({
      passkeyDisplayName: "Laptop",
      createSubOrgParams: {
        userName: "Ann",
        customWallet: { walletName: "Main", walletAccounts: [ethereum] },
      },
    });
    return { sessionToken };
  },
  logInWithPasskey: () => client.loginWithPasskey({}),
  /** The wallet that the sign-up made. */
  async sign() {
    const [wallet] = await client.fetchWallets();
    const walletAccount = wallet?.accounts[0];
    if (walletAccount === undefined) throw new Error("there is no wallet");
    return {
      address: walletAccount.address,
      signature: await client.signMessage({ walletAccount, message: "hello" }),
    };
  },
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
    const createSubOrgParams = { customWallet: { walletName: "Main", walletAccounts: [ethereum] } };
    const { sessionToken } = await client.signUpWithOtp({
      verificationToken,
      contact,
      otpType: otpType as never,
      createSubOrgParams,
    });
    return { sessionToken };
  },
  logInWithCode: (verificationToken: string) => client.loginWithOtp({ verificationToken }),
  account: (contact: string) => client.httpClient.proxyGetAccount({ filterType: "EMAIL", filterValue: contact }),
  logOut: () => client.logout(),
};

export type AuthProxySteps = typeof steps;
offerSteps(steps);

/** `@turnkey/core`, which keeps sessions and their keys itself. */
import { TurnkeyClient } from "@turnkey/core";
import { baseUrl, parentId, rpId, signUp } from "./application.ts";
import { offerSteps } from "./steps.ts";

const client = new TurnkeyClient({ apiBaseUrl: baseUrl, organizationId: parentId, passkeyConfig: { rpId } });
await client.init();

const steps = {
  async register() {
    const { encodedChallenge, attestation } = await client.createPasskey({ name: "Laptop" });
    const { organizationId } = await signUp({ authenticatorName: "Laptop", challenge: encodedChallenge, attestation });
    return { organizationId, credentialId: attestation.credentialId };
  },
  /** Without a credential id the browser chooses among all passkeys of this page. */
  logIn(expirationSeconds = "900", credentialId?: string) {
    const id = Uint8Array.fromBase64(credentialId ?? "", { alphabet: "base64url" });
    const allowCredentials = [{ type: "public-key" as const, id }];
    return client.loginWithPasskey({ expirationSeconds, ...(credentialId !== undefined && { allowCredentials }) });
  },
  session: async () => (await client.getSession()) ?? null,
  user: () => client.fetchUser(),
  async sign() {
    const walletName = `Wallet ${crypto.randomUUID()}`;
    await client.createWallet({ walletName, accounts: ["ADDRESS_FORMAT_ETHEREUM"] });
    const wallet = (await client.fetchWallets()).find((one) => one.walletName === walletName);
    const walletAccount = wallet?.accounts[0];
    if (walletAccount === undefined) throw new Error("the wallet is not among those fetched");
    const signature = await client.signMessage({ walletAccount, message: "hello" });
    return { address: walletAccount.address, signature };
  },
  refresh: (expirationSeconds: string) => client.refreshSession({ expirationSeconds }),
  /** A second passkey, and away with it again, as the settings page of an application does. */
  async addAndRemovePasskey() {
    const added = await client.addPasskey({ name: "Phone" });
    const { authenticators } = await client.fetchUser();
    const names = authenticators.map(({ authenticatorName }) => authenticatorName);
    const phone = authenticators.find(({ authenticatorName }) => authenticatorName === "Phone");
    await client.removePasskeys({ authenticatorIds: [phone?.authenticatorId ?? ""] });
    const left = (await client.fetchUser()).authenticators.length;
    return { added, names, left, removedCredentialId: phone?.credentialId };
  },
  logOut: () => client.logout(),
};

export type CoreClientSteps = typeof steps;
offerSteps(steps);

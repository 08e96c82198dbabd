/** `@turnkey/sdk-browser`: its passkey client, its client for keys in IndexedDB, and one with a read-only session. */
import { decryptCredentialBundle, generateP256KeyPair } from "@turnkey/crypto";
import { SessionType, Turnkey, TurnkeyBrowserClient } from "@turnkey/sdk-browser";
import { baseUrl, parentId, rpId, signUp } from "./application.ts";
import { offerSteps } from "./steps.ts";
import { ethereumAccount, helloPayload } from "./wallets.ts";

const turnkey = new Turnkey({ apiBaseUrl: baseUrl, defaultOrganizationId: parentId, rpId });
const passkey = turnkey.passkeyClient();
const session = await turnkey.indexedDbClient();
await session.init();

async function publicKey(): Promise<string> {
  const key = await session.getPublicKey();
  if (key === null) throw new Error("there is no key in IndexedDB");
  return key;
}

const steps = {
  async register() {
    const { encodedChallenge, attestation } = await passkey.createUserPasskey({
      publicKey: { rp: { id: rpId, name: "App" }, user: { name: "ann", displayName: "Ann" } },
    });
    return signUp({ authenticatorName: "Laptop", challenge: encodedChallenge, attestation });
  },
  async logIn(expirationSeconds = "900") {
    const sessionType = SessionType.READ_WRITE;
    await passkey.loginWithPasskey({ sessionType, publicKey: await publicKey(), expirationSeconds });
  },
  session: async () => (await turnkey.getSession()) ?? null,
  publicKey,
  whoami: () => session.getWhoami(),
  async sign() {
    const { addresses } = await session.createWallet({
      walletName: `Wallet ${crypto.randomUUID()}`,
      accounts: [ethereumAccount],
    });
    const address = addresses[0] ?? "";
    const { r, s, v } = await session.signRawPayload({ signWith: address, ...helloPayload });
    return { address, signature: { r, s, v } };
  },
  refresh: (expirationSeconds: string) =>
    session.refreshSession({ sessionType: SessionType.READ_WRITE, expirationSeconds }),
  logOut: () => turnkey.logout(),
  forgetKey: () => session.clear(),
  /** What an iframe does with a bundle: the private key in it is the session's. */
  async readWriteSession() {
    const embedded = generateP256KeyPair();
    const targetPublicKey = embedded.publicKeyUncompressed;
    const { credentialBundle, ...made } = await passkey.createReadWriteSession({ targetPublicKey });
    const { organizationId, organizationName, userId, username, apiKeyId } = made;
    const privateKey = decryptCredentialBundle(credentialBundle, embedded.privateKey);
    return { organizationId, organizationName, userId, username, apiKeyId, privateKey };
  },
  async logInReadOnly() {
    await passkey.loginWithPasskey({ sessionType: SessionType.READ_ONLY });
    return (await turnkey.getSession()) ?? null;
  },
  async refreshReadOnly() {
    await passkey.refreshSession({ sessionType: SessionType.READ_ONLY });
    return (await turnkey.getSession()) ?? null;
  },
  whoamiReadOnly: (readOnlySession: string) => reader(readOnlySession).getWhoami(),
  createTagReadOnly: (readOnlySession: string) =>
    reader(readOnlySession).createUserTag({ userTagName: "by a reader", userIds: [] }),
};

/** Stamps nothing: `X-Session` is all that it sends. */
function reader(readOnlySession: string): TurnkeyBrowserClient {
  return new TurnkeyBrowserClient({ apiBaseUrl: baseUrl, organizationId: parentId, readOnlySession });
}

export type SdkBrowserSteps = typeof steps;
offerSteps(steps);

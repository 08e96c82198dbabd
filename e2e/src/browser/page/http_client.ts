/** `@turnkey/http` with the stampers for passkeys, for keys in IndexedDB and for the key of a credential bundle. */
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { decryptCredentialBundle, generateP256KeyPair, getPublicKey } from "@turnkey/crypto";
import { getWebAuthnAttestation, TurnkeyClient } from "@turnkey/http";
import { IndexedDbStamper } from "@turnkey/indexed-db-stamper";
import { WebauthnStamper } from "@turnkey/webauthn-stamper";
import { baseUrl, parentId, rpId, signUp } from "./application.ts";
import { offerSteps } from "./steps.ts";
import { ethereumAccount, helloPayload } from "./wallets.ts";

const passkey = new TurnkeyClient({ baseUrl }, new WebauthnStamper({ rpId }));
const storedKey = new IndexedDbStamper();
await storedKey.init();
const session = new TurnkeyClient({ baseUrl }, storedKey);

/** What the read-write session's bundle held. */
let bundleKey: { client: TurnkeyClient; organizationId: string } | undefined;

function publicKeyOf(stamper: IndexedDbStamper): string {
  const publicKey = stamper.getPublicKey();
  if (publicKey === null) throw new Error("there is no key in IndexedDB");
  return publicKey;
}

const now = () => String(Date.now());

async function logIn(client: TurnkeyClient, organizationId: string, expirationSeconds: string): Promise<string> {
  const { activity } = await client.stampLogin({
    type: "ACTIVITY_TYPE_STAMP_LOGIN",
    timestampMs: now(),
    organizationId,
    parameters: { publicKey: publicKeyOf(storedKey), expirationSeconds },
  });
  return activity.result.stampLoginResult?.session ?? "";
}

async function signHello(client: TurnkeyClient, organizationId: string) {
  const wallet = await client.createWallet({
    type: "ACTIVITY_TYPE_CREATE_WALLET",
    timestampMs: now(),
    organizationId,
    parameters: { walletName: `Wallet ${crypto.randomUUID()}`, accounts: [ethereumAccount] },
  });
  const address = wallet.activity.result.createWalletResult?.addresses[0] ?? "";
  const signed = await client.signRawPayload({
    type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
    timestampMs: now(),
    organizationId,
    parameters: { signWith: address, ...helloPayload },
  });
  return { address, signature: signed.activity.result.signRawPayloadResult };
}

const steps = {
  async register() {
    const challenge = crypto.getRandomValues(new Uint8Array(32));
    const attestation = await getWebAuthnAttestation({
      publicKey: {
        rp: { id: rpId, name: "App" },
        challenge,
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        user: { id: crypto.getRandomValues(new Uint8Array(16)), name: "ann", displayName: "Ann" },
        authenticatorSelection: { residentKey: "required", userVerification: "preferred" },
      },
    });
    const encoded = btoa(String.fromCharCode(...challenge))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
    return signUp({ authenticatorName: "Laptop", challenge: encoded, attestation });
  },
  whoamiByPasskey: (organizationId = parentId) => passkey.getWhoami({ organizationId }),
  logIn: (expirationSeconds = "900") => logIn(passkey, parentId, expirationSeconds),
  publicKey: async () => publicKeyOf(storedKey),
  whoami: (organizationId: string) => session.getWhoami({ organizationId }),
  sign: (organizationId: string) => signHello(session, organizationId),
  refresh: (organizationId: string, expirationSeconds: string) => logIn(session, organizationId, expirationSeconds),
  async startReadWriteSession() {
    const embedded = generateP256KeyPair();
    const { activity } = await passkey.createReadWriteSession({
      type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2",
      timestampMs: now(),
      organizationId: parentId,
      parameters: { targetPublicKey: embedded.publicKeyUncompressed, expirationSeconds: "900" },
    });
    const result = activity.result.createReadWriteSessionResultV2;
    if (result === undefined) throw new Error("there is no session");
    const apiPrivateKey = decryptCredentialBundle(result.credentialBundle, embedded.privateKey);
    const apiPublicKey = [...getPublicKey(apiPrivateKey, true)]
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
    const stamper = new ApiKeyStamper({ apiPrivateKey, apiPublicKey });
    bundleKey = { client: new TurnkeyClient({ baseUrl }, stamper), organizationId: result.organizationId };
    return { organizationId: result.organizationId, userId: result.userId, apiKeyId: result.apiKeyId, apiPublicKey };
  },
  async signWithBundleKey() {
    if (bundleKey === undefined) throw new Error("there is no read-write session");
    return signHello(bundleKey.client, bundleKey.organizationId);
  },
  /** The published clients only forget the key. An application that wants the server to forget it deletes it. */
  async logOut(organizationId: string, userId: string) {
    const { apiKeys } = await session.getApiKeys({ organizationId, userId });
    const own = apiKeys.filter(({ credential }) => credential.publicKey === storedKey.getPublicKey());
    const { activity } = await session.deleteApiKeys({
      type: "ACTIVITY_TYPE_DELETE_API_KEYS",
      timestampMs: now(),
      organizationId,
      parameters: { userId, apiKeyIds: own.map(({ apiKeyId }) => apiKeyId) },
    });
    return activity.status;
  },
  forgetKey: () => storedKey.clear(),
};

export type HttpClientSteps = typeof steps;
offerSteps(steps);

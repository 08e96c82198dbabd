/** Our own SDK in the browser. */
import {
  createClient,
  createPasskey,
  createPasskeyStamper,
  createSessionStamper,
  resumeSession,
  type SessionStamper,
} from "@keystead/sdk";
import { baseUrl, parentId, rpId, signUp } from "./application.ts";
import { openDatabase, readValue, writeValue } from "./indexed_db.ts";
import { offerSteps } from "./steps.ts";
import { ethereumAccount, helloPayload } from "./wallets.ts";

const passkey = createPasskeyStamper({ rpId });
let session: SessionStamper | undefined;

function current(): SessionStamper {
  if (session === undefined) throw new Error("nobody is signed in");
  return session;
}

function client() {
  return createClient({ baseUrl, organizationId: current().organizationId, stamper: current() });
}

function described({ organizationId, userId, key, token, expiresAtMs }: SessionStamper) {
  return {
    organizationId,
    userId,
    publicKey: key.publicKey,
    extractable: key.privateKey.extractable,
    token,
    expiresAtMs,
  };
}

const steps = {
  async register() {
    const user = { name: "ann", displayName: "Ann" };
    return signUp(await createPasskey({ authenticatorName: "Laptop", rp: { id: rpId, name: "App" }, user }));
  },
  async logIn(expirationSeconds?: number) {
    session = await createSessionStamper({ baseUrl, organizationId: parentId, loginWith: passkey, expirationSeconds });
    return described(session);
  },
  whoami: () => client().whoami(),
  async sign() {
    const { addresses } = await client().createWallet({
      walletName: `Wallet ${crypto.randomUUID()}`,
      accounts: [ethereumAccount],
    });
    const address = addresses[0] ?? "";
    const { r, s, v } = await client().signRawPayload({ signWith: address, ...helloPayload });
    return { address, signature: { r, s, v } };
  },
  async refresh(expirationSeconds: number) {
    await current().refresh({ expirationSeconds });
    return described(current());
  },
  /** The key goes into IndexedDB as it is; nobody sees its bytes on the way. */
  async store() {
    const { key, token } = current();
    await writeValue(await openDatabase(), { key, token });
  },
  async resume() {
    session = resumeSession({ baseUrl, ...(await readValue(await openDatabase())) });
    return described(session);
  },
  logOut: () => current().logOut(),
};

export type KeysteadSdkSteps = typeof steps;
offerSteps(steps);

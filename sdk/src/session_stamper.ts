/** Sessions: signing in with a lasting credential, and stamping with a key that ends by itself. */
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { fromBase64url, toBase64url } from "@keystead/core/encoding/base64url.ts";
import { toEcdsaDer } from "@keystead/core/encoding/der.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { KeysteadError } from "./keystead_error.ts";
import type { Stamper } from "./stamper.ts";

/** A P-256 key pair of the platform. The private key signs and cannot be read, not even by this program. */
export type SessionKey = {
  /** Compressed, hex: what the server knows the session by. */
  publicKey: string;
  /** Browsers can keep it in IndexedDB as it is. */
  privateKey: CryptoKey;
};

export type SessionLifetime = {
  /** 15 minutes if left out; the server has a maximum. */
  expirationSeconds?: number | undefined;
};

export type SessionStamperOptions = Omit<ClientOptions, "stamper"> &
  SessionLifetime & {
    /** Signs in: a passkey or an API key of the user. The session's own key stamps everything after that. */
    loginWith: Stamper;
    /** Ends the user's other sessions that were made by signing in. */
    invalidateExisting?: boolean;
    /** A new one if left out. */
    key?: SessionKey;
  };

export type SessionStamper = Stamper & {
  /** The organization that the session is in. Whoever signs in with the parent's id learns here which one it is. */
  readonly organizationId: string;
  readonly userId: string;
  readonly key: SessionKey;
  /** The server's signed token about the session, the one of the last refresh. It opens nothing without the key. */
  readonly token: string;
  /** By the server's clock, in whole seconds. */
  readonly expiresAtMs: number;
  /** Gives the session a new end, counted from now. A session that is over cannot be refreshed: sign in again. */
  refresh(lifetime?: SessionLifetime): Promise<void>;
  /** Ends the session at the server, and with it this stamper. If the server refuses, the session goes on. */
  logOut(): Promise<void>;
};

export type ResumeSessionOptions = Omit<ClientOptions, "stamper" | "organizationId"> & {
  key: SessionKey;
  token: string;
};

const utf8 = new TextEncoder();
const ecdsa = { name: "ECDSA", namedCurve: "P-256" } as const;

/** A new key for one session. */
export async function generateSessionKey(): Promise<SessionKey> {
  const { publicKey, privateKey } = await subtle().generateKey(ecdsa, false, ["sign", "verify"]);
  const point = new Uint8Array(await subtle().exportKey("raw", publicKey));
  return { publicKey: toHex(nobleCurves.compressPoint("p256", point)), privateKey };
}

/** Signs in, and stamps with the session from then on. `organizationId` may be the parent's of the user's organization. */
export async function createSessionStamper({
  loginWith,
  invalidateExisting,
  expirationSeconds,
  organizationId,
  key,
  ...connection
}: SessionStamperOptions): Promise<SessionStamper> {
  const own = key ?? (await generateSessionKey());
  const { session } = await createClient({ ...connection, organizationId, stamper: loginWith }).stampLogin({
    publicKey: own.publicKey,
    ...lifetimeOf({ expirationSeconds }),
    ...(invalidateExisting !== undefined && { invalidateExisting }),
  });
  return resumeSession({ ...connection, key: own, token: session });
}

/** Goes on with a session that was made before, by its key and its token. Nothing is sent: the server may have ended it since. */
export function resumeSession({ key, token, ...connection }: ResumeSessionOptions): SessionStamper {
  let current = { token, ...readToken(token, key) };
  let isLoggedOut = false;
  const { organizationId, userId } = current;

  async function stamp(body: Uint8Array) {
    if (isLoggedOut) throw new Error("the session was logged out: sign in again");
    return { name: "X-Stamp", value: await signWithKey(key, body) };
  }

  const client = createClient({ ...connection, organizationId, stamper: { stamp } });

  return {
    organizationId,
    userId,
    key,
    get token() {
      return current.token;
    },
    get expiresAtMs() {
      return current.expiresAtMs;
    },
    stamp,
    async refresh(lifetime = {}) {
      const { session } = await client.stampLogin({ publicKey: key.publicKey, ...lifetimeOf(lifetime) });
      current = { token: session, ...readToken(session, key) };
    },
    async logOut() {
      if (isLoggedOut) return;
      try {
        const { apiKeys } = await client.getApiKeys({ userId });
        const own = apiKeys.filter(({ credential }) => credential.publicKey === key.publicKey);
        await client.deleteApiKeys({ userId, apiKeyIds: own.map(({ apiKeyId }) => apiKeyId) });
      } catch (error) {
        if (!isOver(error)) throw error;
      }
      isLoggedOut = true;
    },
  };
}

/** Refusals that say that the session has ended already. */
function isOver(error: unknown): boolean {
  return error instanceof KeysteadError && ["API_KEY_EXPIRED", "PUBLIC_KEY_NOT_FOUND"].includes(error.errorCode);
}

function lifetimeOf({ expirationSeconds }: SessionLifetime): { expirationSeconds?: string } {
  return expirationSeconds === undefined ? {} : { expirationSeconds: String(expirationSeconds) };
}

async function signWithKey({ publicKey, privateKey }: SessionKey, body: Uint8Array): Promise<string> {
  const rs = await subtle().sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, Uint8Array.from(body));
  const signature = toHex(toEcdsaDer(new Uint8Array(rs)));
  return toBase64url(utf8.encode(JSON.stringify({ publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256", signature })));
}

/** What the server says about a session. The signature is not checked: the answer of the server that is asked is believed anyway. */
function readToken(token: string, key: SessionKey): { organizationId: string; userId: string; expiresAtMs: number } {
  const { organization_id, user_id, public_key, exp } = claimsOf(token);
  if (typeof organization_id !== "string" || typeof user_id !== "string" || typeof exp !== "number") {
    throw new Error("the session token lacks a claim: is this a Keystead server?");
  }
  if (public_key !== key.publicKey) throw new Error("the session token is about another key");
  return { organizationId: organization_id, userId: user_id, expiresAtMs: exp * 1000 };
}

function claimsOf(token: string): Record<string, unknown> {
  try {
    return JSON.parse(new TextDecoder().decode(fromBase64url(token.split(".")[1] ?? ""))) ?? {};
  } catch {
    throw new Error("the session token cannot be read: is this a Keystead server?");
  }
}

/** Browsers offer it on https and on localhost alone. */
function subtle(): SubtleCrypto {
  const { crypto } = globalThis as { crypto?: { subtle?: SubtleCrypto } };
  if (crypto?.subtle === undefined) {
    throw new Error(
      "sessions need WebCrypto: there is no crypto.subtle here; open the page over https or on localhost",
    );
  }
  return crypto.subtle;
}

/**
 * Vendor spellings, all of them, in one place. A client that names itself `@turnkey/…` in `X-Client-Version` gets its own
 * spelling back instead of ours; inputs accept both always. Nothing else knows the vendor's words, except constants that
 * the wire itself fixes.
 */
import { type Oauth2ProviderSpelling, oauth2ProviderOf, oauth2Providers } from "../state/oauth2_providers.ts";

export type Dialect = {
  /** Activities' own times: RFC 3339 text for our clients, a Timestamp object for theirs. */
  activityTime(ms: number): string | { seconds: string; nanos: string };
  /** The name of an OAuth 2.0 provider, however its request had it. */
  oauth2Provider(name: Oauth2ProviderSpelling): string;
  /** A boot proof with the name that this client has for the attestation document. */
  bootProof<T extends { cloudAttestationDocB64: string }>(proof: T): T;
  /** The error body with the spelling this client reads. */
  error<T extends { errorCode: string }>(body: T): T & { turnkeyErrorCode?: string };
};

export function timestamp(ms: number): { seconds: string; nanos: string } {
  const seconds = Math.floor(ms / 1000);
  return { seconds: String(seconds), nanos: String((ms - seconds * 1000) * 1_000_000) };
}

const own: Dialect = {
  activityTime: (ms) => new Date(ms).toISOString(),
  oauth2Provider: oauth2ProviderOf,
  bootProof: (proof) => proof,
  error: (body) => body,
};

const published: Dialect = {
  activityTime: timestamp,
  oauth2Provider: (name) => oauth2Providers[oauth2ProviderOf(name)].published,
  bootProof({ cloudAttestationDocB64, ...proof }) {
    return { ...proof, awsAttestationDocB64: cloudAttestationDocB64 } as never;
  },
  error: (body) => ({ ...body, turnkeyErrorCode: body.errorCode }),
};

export function dialectOf(clientVersion: string | undefined): Dialect {
  return clientVersion?.startsWith("@turnkey/") === true ? published : own;
}

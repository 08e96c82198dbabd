/**
 * The token that a login answers with: who has signed in, with which key, and until when. It authenticates nothing; the key does.
 * Published clients read it, and check it under the notarizer key in a way of their own. SPEC.md has the bytes.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { toBase64url } from "../encoding/base64url.ts";
import type { BundleSigner } from "./bundles.ts";

export type SessionClaims = {
  expiresAtSeconds: number;
  /** The session's key: compressed, hex. */
  publicKey: string;
  sessionType: string;
  userId: string;
  organizationId: string;
  /** Of a session that is bound to one. */
  profile?: { sessionProfileId: string; scope: string };
};

const utf8 = new TextEncoder();
const header = toBase64url(utf8.encode('{"alg":"ES256","typ":"JWT"}'));

/** Signs over SHA-256 of SHA-256, as published clients verify it: this is no ES256 that other libraries would take. */
export function makeSessionJwt(notarizer: Pick<BundleSigner, "sign">, claims: SessionClaims): string {
  const payload = JSON.stringify({
    exp: claims.expiresAtSeconds,
    public_key: claims.publicKey,
    session_type: claims.sessionType,
    user_id: claims.userId,
    organization_id: claims.organizationId,
    ...(claims.profile !== undefined && {
      session_profile_id: claims.profile.sessionProfileId,
      scope: claims.profile.scope,
    }),
  });
  const signed = `${header}.${toBase64url(utf8.encode(escapeForAtob(payload)))}`;
  return `${signed}.${toBase64url(notarizer.sign(sha256(utf8.encode(signed))))}`;
}

/**
 * Clients decode the payload with an `atob` that does not know `-` and `_`. Only these characters lead to them; escaped, base64url
 * and base64 of a JSON text are the same.
 */
export function escapeForAtob(json: string): string {
  return json.replace(/[>?~\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

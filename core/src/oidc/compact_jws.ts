/**
 * Signed tokens in their compact form (RFC 7515), read so that a token has one spelling and one meaning. Nothing in a token says how it is
 * verified: `alg` and `kid` are only compared with the issuer's keys, and what would bring a key along is refused.
 */
import { invalidToken } from "./invalid_token.ts";
import { memberOf, readObject, strictBase64url } from "./token_json.ts";

export type CompactJws = {
  /** As the token says them: to find the key by, never to verify with. */
  algorithm: string;
  kid: string | undefined;
  /** What kind of token it says it is. */
  type: string | undefined;
  payload: Uint8Array;
  /** The bytes that the signature is over. */
  signed: Uint8Array;
  signature: Uint8Array;
};

/** Tokens with many claims have some KiB. They travel in headers, in base64 once more. */
export const maxTokenLength = 12 * 1024;
const maxHeaderBytes = 4 * 1024;
const maxHeaderMarks = 100;

/** Members that name or carry a key, or change what is signed. */
const refusedMembers = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "cty"];

export function parseCompactJws(token: string): CompactJws {
  if (token.length > maxTokenLength) throw invalidToken("too long");
  const [header = "", payload = "", signature = "", ...more] = token.split(".");
  if (header === "" || signature === "" || more.length > 0) throw invalidToken("not three parts");
  const [headerBytes, payloadBytes, signatureBytes] = [header, payload, signature].map(strictBase64url);
  if (headerBytes === undefined || payloadBytes === undefined || signatureBytes === undefined) {
    throw invalidToken("a part is not base64url");
  }
  const members = readObject(headerBytes, maxHeaderBytes, maxHeaderMarks);
  if (members === undefined) throw invalidToken("its header is no JSON object");
  return {
    ...readHeader(members),
    payload: payloadBytes,
    signed: new TextEncoder().encode(`${header}.${payload}`),
    signature: signatureBytes,
  };
}

function readHeader(members: Readonly<Record<string, unknown>>): Pick<CompactJws, "algorithm" | "kid" | "type"> {
  const refused = refusedMembers.find((name) => Object.hasOwn(members, name));
  if (refused !== undefined) throw invalidToken(`its header has \`${refused}\``);
  const algorithm = memberOf(members, "alg");
  const kid = memberOf(members, "kid");
  const type = memberOf(members, "typ");
  if (typeof algorithm !== "string") throw invalidToken("its header has no `alg`");
  if (kid !== undefined && typeof kid !== "string") throw invalidToken("its `kid` is no text");
  if (type !== undefined && typeof type !== "string") throw invalidToken("its `typ` is no text");
  return { algorithm, kid, type };
}

/** An issuer of identity tokens for tests: what it publishes, under keys that it can change. */
import { generateKeyPairSync } from "node:crypto";
import type { RequestListener } from "node:http";

export type PublishedKey = Readonly<Record<string, unknown>>;

export function newPublishedKey(kid: string): PublishedKey {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...publicKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" };
}

export type IssuerDocuments = {
  listener: RequestListener;
  /** Paths that were asked for. */
  asked: string[];
  /** What is answered from now on; absent: 404. */
  documents: Record<string, unknown>;
};

export const discoveryPath = "/.well-known/openid-configuration";

export function createIssuerDocuments(): IssuerDocuments {
  const asked: string[] = [];
  const documents: Record<string, unknown> = {};
  const listener: RequestListener = ({ url = "" }, response) => {
    asked.push(url);
    const document = documents[url];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  };
  return { listener, asked, documents };
}

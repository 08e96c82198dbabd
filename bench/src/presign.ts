/** Requests as bytes, signed before anything is measured. */
import { createHash, createPrivateKey, type KeyObject, randomUUID, sign } from "node:crypto";
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { objectId } from "@keystead/server/state/derived_id.ts";

export type Account = {
  host: string;
  organizationId: string;
  apiPublicKey: string;
  apiPrivateKey: string;
};

export type Presigner = {
  whoami(): Buffer;
  /** The creation of a tag, and its deletion: the tag's id derives from the first body, so both are signed at once. */
  tagPair(timestampMs: number): [create: Buffer, remove: Buffer];
};

export function createPresigner(account: Account): Presigner {
  const key = privateKey(account);
  const { organizationId } = account;
  const organization = uuidToBytes(organizationId);

  function request(path: string, body: Buffer): Buffer {
    return Buffer.concat([
      Buffer.from(head(account.host, path, body.length, stamp(account, key, body)), "latin1"),
      body,
    ]);
  }
  function activity(type: string, timestampMs: number, parameters: unknown): Buffer {
    return Buffer.from(JSON.stringify({ type, timestampMs: String(timestampMs), organizationId, parameters }));
  }
  return {
    whoami: () => request("/public/v1/query/whoami", Buffer.from(JSON.stringify({ organizationId }))),
    tagPair(timestampMs) {
      const create = activity("ACTIVITY_TYPE_CREATE_USER_TAG", timestampMs, {
        userTagName: `bench ${randomUUID()}`,
        userIds: [],
      });
      const tagId = objectId(organization, createHash("sha256").update(create).digest(), 0);
      const remove = activity("ACTIVITY_TYPE_DELETE_USER_TAGS", timestampMs, { userTagIds: [tagId] });
      return [
        request("/public/v1/submit/create_user_tag", create),
        request("/public/v1/submit/delete_user_tags", remove),
      ];
    },
  };
}

/** The headers that `fetch` sends with a stamped request: shorter ones would flatter us. */
function head(host: string, path: string, length: number, stampHeader: string): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    "connection: keep-alive",
    "content-type: application/json",
    `x-stamp: ${stampHeader}`,
    "x-client-version: @keystead/sdk@0.1.0",
    "accept: */*",
    "accept-language: *",
    "sec-fetch-mode: cors",
    "user-agent: node",
    "accept-encoding: gzip, deflate",
    `content-length: ${length}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function stamp({ apiPublicKey: publicKey }: Account, key: KeyObject, body: Buffer): string {
  const signature = sign("sha256", body, { key, dsaEncoding: "der" }).toString("hex");
  return toBase64url(Buffer.from(JSON.stringify({ publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256", signature })));
}

function privateKey({ apiPrivateKey }: Account): KeyObject {
  const key = Buffer.from(apiPrivateKey, "hex");
  return createPrivateKey({ key, format: "raw-private", asymmetricKeyType: "ec", namedCurve: "P-256" });
}

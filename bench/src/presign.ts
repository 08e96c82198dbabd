/** Requests as bytes, signed before anything is measured. */
import { createHash, createPrivateKey, type KeyObject, randomBytes, randomUUID, sign } from "node:crypto";
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { createPasskey, passkeyStamp } from "@keystead/e2e/passkeys.ts";
import { objectId } from "@keystead/server/state/derived_id.ts";
import { unsignedTransfer } from "./erc20.ts";

export type Account = {
  host: string;
  organizationId: string;
  apiPublicKey: string;
  apiPrivateKey: string;
  /** Hex of a passkey's secret: it stamps instead of the key. */
  passkeySecret?: string;
};

export type Presigner = {
  /** With so many bytes more than it needs. */
  whoami(padding?: number): Buffer;
  /**
   * The creation of a tag, and its deletion: the tag's id derives from the first body, so both are signed at once. In the
   * account's organization, or in another that knows its key.
   */
  tagPair(timestampMs: number, organizationId?: string): [create: Buffer, remove: Buffer];
  /** The creation of a wallet with one Ethereum account. */
  wallet(timestampMs: number): Buffer;
  /** The signature of a digest, as wallets of the published clients ask for it. */
  rawPayload(timestampMs: number, signWith: string): Buffer;
  /** The signature of a token's transfer on Ethereum. */
  transaction(timestampMs: number, signWith: string): Buffer;
  /** The creation of a sub-organization whose root user has the account's key. */
  subOrganization(timestampMs: number): { request: Buffer; organizationId: string };
  /** Any activity in the account's organization. */
  submit(path: string, type: string, timestampMs: number, parameters: object): Buffer;
  /** A request through the auth proxy, which nobody stamps. */
  proxied(path: string, configId: string, value: object): Buffer;
};

export const ethereumAccount = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const;

export function createPresigner(account: Account): Presigner {
  const key = privateKey(account);
  const { organizationId, passkeySecret } = account;
  const passkey = passkeySecret === undefined ? undefined : createPasskey(Buffer.from(passkeySecret, "hex"));

  function stampHeader(body: Buffer): string {
    if (passkey === undefined) return `x-stamp: ${stamp(account, key, body)}`;
    return `x-stamp-webauthn: ${passkeyStamp(passkey, body)}`;
  }
  function request(path: string, body: Buffer): Buffer {
    return Buffer.concat([Buffer.from(head(account.host, path, body.length, stampHeader(body)), "latin1"), body]);
  }
  function activity(organizationId: string, type: string, timestampMs: number, parameters: unknown): Buffer {
    return Buffer.from(JSON.stringify({ type, timestampMs: String(timestampMs), organizationId, parameters }));
  }
  /** The id of the first thing that an activity makes. */
  function madeBy(organizationId: string, body: Buffer): string {
    return objectId(uuidToBytes(organizationId), createHash("sha256").update(body).digest(), 0);
  }
  return {
    whoami(padding) {
      const asked = padding === undefined ? { organizationId } : { organizationId, pad: "x".repeat(padding) };
      return request("/public/v1/query/whoami", Buffer.from(JSON.stringify(asked)));
    },
    tagPair(timestampMs, within = organizationId) {
      const create = activity(within, "ACTIVITY_TYPE_CREATE_USER_TAG", timestampMs, {
        userTagName: `bench ${randomUUID()}`,
        userIds: [],
      });
      const userTagIds = [madeBy(within, create)];
      const remove = activity(within, "ACTIVITY_TYPE_DELETE_USER_TAGS", timestampMs, { userTagIds });
      return [
        request("/public/v1/submit/create_user_tag", create),
        request("/public/v1/submit/delete_user_tags", remove),
      ];
    },
    wallet(timestampMs) {
      const body = activity(organizationId, "ACTIVITY_TYPE_CREATE_WALLET", timestampMs, {
        walletName: `bench ${randomUUID()}`,
        accounts: [ethereumAccount],
      });
      return request("/public/v1/submit/create_wallet", body);
    },
    rawPayload(timestampMs, signWith) {
      const body = activity(organizationId, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", timestampMs, {
        signWith,
        payload: `0x${randomBytes(32).toString("hex")}`,
        encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
        hashFunction: "HASH_FUNCTION_NO_OP",
      });
      return request("/public/v1/submit/sign_raw_payload", body);
    },
    transaction(timestampMs, signWith) {
      const body = activity(organizationId, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", timestampMs, {
        signWith,
        unsignedTransaction: unsignedTransfer(),
        type: "TRANSACTION_TYPE_ETHEREUM",
      });
      return request("/public/v1/submit/sign_transaction", body);
    },
    subOrganization(timestampMs) {
      const apiKey = { apiKeyName: "bench", publicKey: account.apiPublicKey, curveType: "API_KEY_CURVE_P256" };
      const body = activity(organizationId, "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", timestampMs, {
        subOrganizationName: `bench ${randomUUID()}`,
        rootUsers: [{ userName: "Root", apiKeys: [apiKey], authenticators: [], oauthProviders: [] }],
        rootQuorumThreshold: 1,
      });
      return {
        request: request("/public/v1/submit/create_sub_organization", body),
        organizationId: madeBy(organizationId, body),
      };
    },
    submit: (path, type, timestampMs, parameters) =>
      request(`/public/v1/submit/${path}`, activity(organizationId, type, timestampMs, parameters)),
    proxied(path, configId, value) {
      const body = Buffer.from(JSON.stringify(value));
      const lines = head(account.host, `/v1/${path}`, body.length, `x-auth-proxy-config-id: ${configId}`);
      return Buffer.concat([Buffer.from(lines, "latin1"), body]);
    },
  };
}

/** The headers that `fetch` sends, with that of the stamp or the proxy: shorter ones would flatter us. */
function head(host: string, path: string, length: number, ownHeader: string): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    "connection: keep-alive",
    "content-type: application/json",
    ownHeader,
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

/** Requests as bytes, made before an attack begins: an attacker's own work should be next to nothing. */
import { createHash } from "node:crypto";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { createKey } from "../key_pairs.ts";
import { bytesOf } from "../wire.ts";
import type { Target } from "./attack.ts";

export const whoami = "/public/v1/query/whoami";
export const createUserTag = "/public/v1/submit/create_user_tag";

export const mebibyte = 1024 * 1024;

/** The first line and the headers; `more` are whole lines. */
export function headOf(path: string, more: readonly string[], method = "POST"): Buffer {
  return Buffer.from(`${[`${method} ${path} HTTP/1.1`, "Host: x", ...more].join("\r\n")}\r\n\r\n`, "latin1");
}

export function withLength(path: string, stamp: string, body: Uint8Array): Buffer {
  return Buffer.concat([headOf(path, [`Content-Length: ${body.length}`, `X-Stamp: ${stamp}`]), body]);
}

/** The stamp of a member. */
export function memberStamp({ apiPrivateKey }: Target, body: Uint8Array): string {
  return signStamp(fromHex(apiPrivateKey), "SIGNATURE_SCHEME_TK_API_P256", body);
}

/** A right stamp by a key that nobody has registered. */
export function strangerStamp(body: Uint8Array): string {
  return signStamp(createKey().privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
}

/** The stamp of a member over other bytes: it costs a whole verification to find out. */
export function falseStamp(target: Target, body: Uint8Array): string {
  return memberStamp(target, createHash("sha256").update(body).digest());
}

export function stampedBy(target: Target, path: string, body: unknown): Buffer {
  const bytes = bytesOf(body);
  return withLength(path, memberStamp(target, bytes), bytes);
}

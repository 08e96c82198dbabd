/**
 * What the courier says about an issuer of identity tokens: these were its keys at this time. The signer has no network, and the gateway
 * between the two is not to be believed, so a statement has a MAC under a key that only the signer and its couriers have. SPEC.md has the
 * bytes.
 */
import { sameSecretBytes } from "../encoding/bytes.ts";
import { bytesUpTo, decode, encode, fixed, struct, textUpTo, u8, u64, type ValueOf } from "../encoding/layout.ts";
import { Fault } from "../fault.ts";

/** HMAC-SHA-256 under the statement key. The server brings it. */
export type StatementMac = (content: Uint8Array) => Uint8Array;

/** Issuers' addresses are shorter by far; a claim `iss` that is longer names no issuer. */
export const maxIssuerBytes = 512;
/** The largest published key set, with only the members that matter, has a tenth of it. */
export const maxKeySetBytes = 32 * 1024;

/** By the signer's own clock: issuers replace their keys every few hours, and one that was stolen must end. */
export const maxStatementAgeMs = 60 * 60_000;
/** An issuer is not asked more often than this, whatever keys tokens name. */
export const refetchPauseMs = 60_000;

const format = 1;
const macLength = 32;

const contentLayout = struct({
  format: u8,
  /** The exact text of the claim `iss`. */
  issuer: textUpTo(maxIssuerBytes),
  /** JSON text as `writeKeySet` writes it. */
  keys: textUpTo(maxKeySetBytes),
  /** The courier's clock when the keys had come. */
  fetchedAtMs: u64,
});

const statementLayout = struct({
  content: bytesUpTo(maxIssuerBytes + maxKeySetBytes + 32),
  mac: fixed(macLength),
});

export type IssuerStatement = Omit<ValueOf<typeof contentLayout>, "format">;

/** The longest statement that there is. */
export const maxStatementBytes = 4 + maxIssuerBytes + maxKeySetBytes + 32 + macLength;

/** The statement's bytes, with their MAC. Throws `internal` for an issuer or keys that are too long. */
export function makeStatement(mac: StatementMac, statement: IssuerStatement): Uint8Array<ArrayBuffer> {
  const content = encode(contentLayout, { ...statement, format });
  return encode(statementLayout, { content, mac: mac(content) });
}

/** Throws `invalid_argument` for everything that no courier of this deployment has said. How old it may be is the caller's to decide. */
export function openStatement(mac: StatementMac, bytes: Uint8Array): IssuerStatement {
  const { content, mac: sent } = decode(statementLayout, bytes);
  // Before anything of it is read.
  if (!sameSecretBytes(mac(content), sent)) {
    throw new Fault("invalid_argument", "no statement of this deployment's courier");
  }
  return readContent(content);
}

/**
 * What a statement says, unverified: for its carrier, which got it from the courier itself, and for nobody who decides on the word of a
 * carrier.
 */
export function peekStatement(bytes: Uint8Array): IssuerStatement {
  return readContent(decode(statementLayout, bytes).content);
}

function readContent(content: Uint8Array): IssuerStatement {
  const { format: sentFormat, issuer, keys, fetchedAtMs } = decode(contentLayout, content);
  if (sentFormat !== format) throw new Fault("invalid_argument", `unknown format ${sentFormat} of a statement`);
  return { issuer, keys, fetchedAtMs };
}

/**
 * What sign_raw_payload signs: the payload's text read as its encoding says, then hashed as its hash function says, as far
 * as the key's scheme allows. Refusals begin with the published words, because clients and users look for them.
 */
import { fromHexAt } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import type { SignatureScheme } from "../keys/key_curves.ts";
import { finish, type Work } from "../work.ts";
import type { Curves } from "./curves.ts";
import { digestingTypedData, parseTypedData, type TypedData } from "./eip712.ts";
import { type Authorization, authorizationDigest, parseAuthorization } from "./eip7702.ts";
import { checkDigest, type SignatureSchemeRow, signatureSchemes } from "./signing.ts";

export type PayloadEncoding =
  | "PAYLOAD_ENCODING_HEXADECIMAL"
  | "PAYLOAD_ENCODING_TEXT_UTF8"
  | "PAYLOAD_ENCODING_EIP712"
  | "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION";

export type HashFunction =
  | "HASH_FUNCTION_NO_OP"
  | "HASH_FUNCTION_SHA256"
  | "HASH_FUNCTION_KECCAK256"
  | "HASH_FUNCTION_NOT_APPLICABLE";

type Hashes = Pick<Curves, "sha256" | "keccak256">;

/** The bytes to sign, and what a policy may see of a payload that has parts. */
export type ReadPayload = {
  /** A digest of 32 bytes, or the message itself where the scheme takes one. */
  bytes: Uint8Array;
  typedData?: TypedData;
  authorization?: Authorization;
};

export type PayloadEncodingRow = {
  /** Whether reading it ends in a digest of its own, so that no hash function is left to choose. */
  isDigest: boolean;
  read(hashes: Hashes, payload: string): ReadPayload | Work<ReadPayload>;
};

const utf8 = new TextEncoder();

/** One row per encoding. */
export const payloadEncodings = {
  PAYLOAD_ENCODING_HEXADECIMAL: {
    isDigest: false,
    read: (_, payload) => ({ bytes: readHexadecimal(payload) }),
  },
  PAYLOAD_ENCODING_TEXT_UTF8: {
    isDigest: false,
    read: (_, payload) => ({ bytes: readText(payload) }),
  },
  PAYLOAD_ENCODING_EIP712: {
    isDigest: true,
    *read(hashes, payload) {
      const typedData = parseTypedData(payload);
      yield;
      return { bytes: yield* digestingTypedData(hashes, typedData), typedData };
    },
  },
  PAYLOAD_ENCODING_EIP7702_AUTHORIZATION: {
    isDigest: true,
    read(hashes, payload) {
      const authorization = parseAuthorization(payload);
      return { bytes: authorizationDigest(hashes, authorization), authorization };
    },
  },
} as const satisfies Record<PayloadEncoding, PayloadEncodingRow>;

export type HashFunctionRow = {
  /** Which schemes it goes with: those that sign a digest, or those that sign the message. */
  makes: "digest" | "message";
  hash(hashes: Hashes, bytes: Uint8Array): Uint8Array;
};

/** One row per hash function. NO_OP says that the payload is a digest already; NOT_APPLICABLE that there is none. */
export const hashFunctions = {
  HASH_FUNCTION_NO_OP: { makes: "digest", hash: (_, bytes) => bytes },
  HASH_FUNCTION_SHA256: { makes: "digest", hash: (hashes, bytes) => hashes.sha256(bytes) },
  HASH_FUNCTION_KECCAK256: { makes: "digest", hash: (hashes, bytes) => hashes.keccak256(bytes) },
  HASH_FUNCTION_NOT_APPLICABLE: { makes: "message", hash: (_, bytes) => bytes },
} as const satisfies Record<HashFunction, HashFunctionRow>;

type PayloadToRead = { payload: string; encoding: string; hashFunction: string };

/** Reads one payload for a key of `scheme`, or throws `invalid_argument` with a published text. */
export function readPayload(hashes: Hashes, scheme: SignatureScheme, payload: PayloadToRead): ReadPayload {
  return finish(readingPayload(hashes, scheme, payload));
}

/** The same with pauses. */
export function* readingPayload(
  hashes: Hashes,
  scheme: SignatureScheme,
  { payload, encoding, hashFunction }: PayloadToRead,
): Work<ReadPayload> {
  if (!isPayloadEncoding(encoding)) throw new Fault("invalid_argument", "invalid payload encoding");
  if (!isHashFunction(hashFunction)) throw new Fault("invalid_argument", "invalid hash function");
  const encodingRow: PayloadEncodingRow = payloadEncodings[encoding];
  const hashRow: HashFunctionRow = hashFunctions[hashFunction];
  const schemeRow: SignatureSchemeRow = signatureSchemes[scheme];
  const { takes } = schemeRow;
  if (encodingRow.isDigest) {
    if (takes === "message") throw new Fault("invalid_argument", `invalid payload encoding: ${messageOnly}`);
    if (hashFunction !== "HASH_FUNCTION_NO_OP") throw new Fault("invalid_argument", digestAlready);
    return yield* reading(encodingRow, hashes, payload);
  }
  if (hashRow.makes !== takes) {
    throw new Fault("invalid_argument", `invalid hash function: ${takes === "message" ? messageOnly : digestOnly}`);
  }
  const bytes = hashRow.hash(hashes, (yield* reading(encodingRow, hashes, payload)).bytes);
  checkDigest(schemeRow, bytes);
  return { bytes };
}

function* reading(row: PayloadEncodingRow, hashes: Hashes, payload: string): Work<ReadPayload> {
  const read = row.read(hashes, payload);
  return "next" in read ? yield* read : read;
}

const messageOnly =
  "ed25519 keys sign the payload itself, as HASH_FUNCTION_NOT_APPLICABLE with PAYLOAD_ENCODING_HEXADECIMAL or PAYLOAD_ENCODING_TEXT_UTF8";
const digestOnly =
  "this key signs a digest; choose HASH_FUNCTION_SHA256 or HASH_FUNCTION_KECCAK256, or HASH_FUNCTION_NO_OP if the payload is a digest already";
const digestAlready =
  "invalid hash function: this payload encoding has its own digest, so it takes HASH_FUNCTION_NO_OP";

export function isPayloadEncoding(text: string): text is PayloadEncoding {
  return Object.hasOwn(payloadEncodings, text);
}

export function isHashFunction(text: string): text is HashFunction {
  return Object.hasOwn(hashFunctions, text);
}

/**
 * How long all payloads of a request may be together, in characters. Typed data takes up to a microsecond per character to read and
 * hash, so that this is a quarter of a second of the signer, in pieces.
 */
const maxTotalLength = { structured: 256 * 1024, plain: 1024 * 1024 } as const;

/** Refuses payloads that are too long together. Asked before any of them is read, by whoever reads them. */
export function checkTotalLength(payloads: readonly string[], encoding: PayloadEncoding): void {
  const limit = maxTotalLength[payloadEncodings[encoding].isDigest ? "structured" : "plain"];
  const length = payloads.reduce((sum, payload) => sum + payload.length, 0);
  if (length <= limit) return;
  const message = `the payloads are too long together: ${length} characters where ${limit} are taken`;
  throw new Fault("invalid_argument", message);
}

/** Half of the published clients write `0x`, half do not. */
function readHexadecimal(payload: string): Uint8Array {
  try {
    return fromHexAt(payload, payload.startsWith("0x") ? 2 : 0);
  } catch (cause) {
    throw new Fault("invalid_argument", "invalid payload encoding: the payload is not hexadecimal", { cause });
  }
}

function readText(payload: string): Uint8Array {
  // An encoder would put U+FFFD for half a character, and the signature would be of another text.
  if (!payload.isWellFormed()) throw new Fault("invalid_argument", "invalid payload encoding: not Unicode text");
  return utf8.encode(payload);
}

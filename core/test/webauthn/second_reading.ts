/**
 * A second opinion on registrations and stamps, for the mutants: the same rules, worked out with other means. JSON by its
 * tokens, CBOR by reading loosely and writing it again, origins by `URL`, keys as JWK, signatures by OpenSSL with its own
 * reader of DER. It shares no code with what it judges.
 */
import { constants, createHash, createPublicKey, ECDH, type KeyObject, verify } from "node:crypto";
import { type LooseCbor, readStrictly } from "./loose_cbor.ts";
import { isStrictJson } from "./strict_json.ts";

class Refused extends Error {}

function demand(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Refused(why);
}

/** What is read, or undefined when the bytes do not verify. */
function judged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** Base64 in one of its four spellings, and nothing that only decodes to the same. */
function bytesOf(text: unknown): Buffer {
  demand(typeof text === "string", "not text");
  const bytes = Buffer.from(text, "base64");
  const plain = bytes.toString("base64");
  const url = bytes.toString("base64url");
  const spellings = [plain, plain.replace(/=*$/, ""), url, url.padEnd(plain.length, "=")];
  demand(spellings.includes(text), "not base64");
  return bytes;
}

function readJson(bytes: Buffer, maxBytes: number, maxMarks: number): Record<string, unknown> {
  demand(bytes.length <= maxBytes && isStrictJson(bytes, maxMarks), "not strict JSON");
  const value: unknown = JSON.parse(bytes.toString());
  demand(typeof value === "object" && value !== null && !Array.isArray(value), "not an object");
  return value as Record<string, unknown>;
}

/** The spelling of challenges that browsers use. */
const asUrl = (challenge: string) => challenge.replace(/==?$/, "").replace(/\+/g, "-").replace(/\//g, "_");

type Client = { type: string; challenge: string; originAllowed: boolean };

function readClientData(bytes: Buffer, rpIdHash: string, allowedOrigins: readonly string[] | undefined): Client {
  const { type, challenge, origin, crossOrigin = null, topOrigin = null } = readJson(bytes, 4096, 200);
  demand(typeof type === "string" && typeof challenge === "string" && typeof origin === "string", "not text");
  const isAlone = topOrigin === null && (crossOrigin === null || crossOrigin === false);
  const frameAllowed = isAlone || allowedOrigins === undefined || allowedOrigins.some((one) => one === topOrigin);
  const originAllowed = isAllowed(origin, rpIdHash, allowedOrigins) && frameAllowed;
  return { type, challenge: asUrl(challenge), originAllowed };
}

function isAllowed(origin: string, rpIdHash: string, allowedOrigins: readonly string[] | undefined): boolean {
  if (origin.length > 300) return false;
  if (allowedOrigins !== undefined) return allowedOrigins.some((one) => one === origin);
  if (/^android:apk-key-hash:[\w-]{1,64}$/.test(origin)) return true;
  const portless = origin.replace(/:\d{1,5}$/, "");
  if (!URL.canParse(portless)) return false;
  const { protocol, hostname, origin: canonical } = new URL(portless);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  if (canonical !== portless || !(protocol === "https:" || (protocol === "http:" && isLocal))) return false;
  const labels = hostname.split(".");
  // `URL` also takes hosts that no name server could know, such as `log)n.example.com`.
  if (labels.some((name) => !/^[\w-]+$/.test(name))) return false;
  return labels.some((_, i) => sha256(labels.slice(i).join(".")) === rpIdHash);
}

type Authenticator = { rpIdHash: string; flags: number; counter: number; rest: Buffer };

function readAuthenticator(bytes: Buffer): Authenticator {
  demand(bytes.length >= 37 && bytes.length <= 4096, "length");
  const flags = bytes.readUInt8(32);
  demand((flags & 0x18) !== 0x10, "backed up without being eligible");
  demand((flags & 1) === 1, "nobody was there");
  return {
    rpIdHash: bytes.toString("hex", 0, 32),
    flags,
    counter: bytes.readUInt32BE(33),
    rest: bytes.subarray(37),
  };
}

/** Some bytes as exactly one map; where there is one more value behind it, `end` says where that begins. */
function mapAt(bytes: Buffer): { map: Map<unknown, LooseCbor>; end: number } {
  const read = readStrictly(bytes);
  demand(read !== undefined && read.value instanceof Map, "not a CBOR map");
  return { map: read.value, end: read.end };
}

function demandExtensions(flags: number, rest: Buffer): void {
  if ((flags & 0x80) === 0) demand(rest.length === 0, "more bytes than announced");
  else demand(mapAt(rest).end === rest.length, "more bytes than announced");
}

function keyFrom(map: Map<unknown, LooseCbor>): { algorithm: string; key: KeyObject } {
  const bytes = (label: number, least: number, most: number) => {
    const value = map.get(label);
    demand(Buffer.isBuffer(value) && value.length >= least && value.length <= most, `parameter ${label}`);
    return value;
  };
  const numbers = [1, 3].map((label) => map.get(label)).join();
  if (numbers === "2,-7") {
    demand(map.size === 5 && map.get(-1) === 1, "parameters");
    const [x, y] = [bytes(-2, 32, 32), bytes(-3, 32, 32)].map((part) => part.toString("base64url"));
    return { algorithm: "ES256", key: importJwk({ kty: "EC", crv: "P-256", x, y }) };
  }
  demand(numbers === "3,-257" && map.size === 4, "another algorithm");
  const [n, e] = [bytes(-1, 256, 512), bytes(-2, 3, 4)];
  const [modulus, exponent] = [n, e].map((part) => BigInt(`0x${part.toString("hex")}`)) as [bigint, bigint];
  demand(n[0] !== 0 && e[0] !== 0 && modulus >= 1n << 2047n && modulus % 2n === 1n, "modulus");
  demand(exponent === 65537n, "exponent");
  return { algorithm: "RS256", key: importJwk({ kty: "RSA", n: n.toString("base64url"), e: e.toString("base64url") }) };
}

function importJwk(key: Record<string, string | undefined>): KeyObject {
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch {
    throw new Refused("not a key");
  }
}

function isSigned(key: KeyObject, authenticatorData: Buffer, clientData: Buffer, signature: Buffer): boolean {
  const message = Buffer.concat([authenticatorData, Buffer.from(sha256(clientData), "hex")]);
  try {
    return verify("sha256", message, { key, dsaEncoding: "der", padding: constants.RSA_PKCS1_PADDING }, signature);
  } catch {
    return false; // OpenSSL throws on some numbers that are no RSA key.
  }
}

/** The stored form in hex. */
function storedKey(key: KeyObject): string {
  const spki = key.export({ format: "der", type: "spki" });
  if (key.asymmetricKeyType === "rsa") return spki.toString("hex");
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const isOdd = (Buffer.from(y, "base64url").at(-1) ?? 0) % 2 === 1;
  return (isOdd ? "03" : "02") + Buffer.from(x, "base64url").toString("hex");
}

const formats = new Set("none packed fido-u2f apple android-key android-safetynet tpm".split(" "));

export type SecondRegistration = {
  challenge: string;
  credentialId: string;
  clientDataJson: string;
  attestationObject: string;
  allowedOrigins: readonly string[] | undefined;
};

/** What is kept of a registration, or undefined when it does not hold. */
export function readRegistrationAgain(sent: SecondRegistration) {
  return judged(() => {
    const object = bytesOf(sent.attestationObject);
    demand(object.length <= 32 * 1024, "too long");
    const { map, end } = mapAt(object);
    demand(end === object.length, "bytes behind the end");
    const [fmt, statement, authData] = [map.get("fmt"), map.get("attStmt"), map.get("authData")];
    demand(typeof fmt === "string" && formats.has(fmt), "format");
    demand(statement instanceof Map && Buffer.isBuffer(authData), "parts");
    const { rpIdHash, flags, counter, rest } = readAuthenticator(authData);
    demand((flags & 0x40) !== 0 && rest.length >= 18, "no credential");
    const idEnd = 18 + rest.readUInt16BE(16);
    demand(idEnd > 18 && idEnd <= 18 + 1023 && idEnd < rest.length, "id");
    const id = rest.subarray(18, idEnd);
    const keyMap = mapAt(rest.subarray(idEnd));
    demandExtensions(flags, rest.subarray(idEnd + keyMap.end));
    const sentId = bytesOf(sent.credentialId);
    demand(sentId.equals(id) || sentId.equals(byteString(id)), "another id");
    const { algorithm, key } = keyFrom(keyMap.map);
    const clientData = bytesOf(sent.clientDataJson);
    const { type, challenge, originAllowed } = readClientData(clientData, rpIdHash, sent.allowedOrigins);
    demand(type === "webauthn.create" && originAllowed, "client data");
    demand(sent.challenge !== "" && challenge === asUrl(sent.challenge), "challenge");
    if (fmt === "none") demand(statement.size === 0, "statement");
    const chain = statement.get("x5c");
    const isChain = Array.isArray(chain) && chain.length > 0 && chain.every((item) => Buffer.isBuffer(item));
    if (fmt === "packed" && statement.has("x5c")) demand(isChain, "x5c");
    else if (fmt === "packed") {
      const signature = statement.get("sig");
      demand(statement.get("alg") === (algorithm === "ES256" ? -7 : -257) && Buffer.isBuffer(signature), "statement");
      demand(isSigned(key, authData, clientData, signature), "self-attestation");
    }
    const aaguid = rest.toString("hex", 0, 16);
    const bits = (bit: number) => (flags & bit) !== 0;
    return {
      ...{ credentialId: id.toString("base64url"), algorithm, publicKey: storedKey(key), rpIdHash, aaguid },
      ...{ attestationType: fmt, counter, userVerified: bits(4), backupEligible: bits(8), backedUp: bits(16) },
    };
  });
}

/** A CBOR byte string, written as shortly as can be. */
function byteString(bytes: Buffer): Buffer {
  const { length } = bytes;
  const head = length < 24 ? [0x40 + length] : length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), bytes]);
}

export type SecondStamp = {
  header: string;
  body: Uint8Array;
  publicKey: Uint8Array;
  rpIdHash: Uint8Array;
  allowedOrigins: readonly string[] | undefined;
};

/** What a stamp says, or undefined when it does not verify. */
export function readStampAgain(sent: SecondStamp) {
  return judged(() => {
    demand(sent.header.length <= 12 * 1024, "too long");
    const fields = readJson(Buffer.from(sent.header), 12 * 1024, 1000);
    const [authData, clientData, id, signature] = [
      "authenticatorData",
      "clientDataJson",
      "credentialId",
      "signature",
    ].map((name) => bytesOf(Object.hasOwn(fields, name) ? fields[name] : undefined)) as [
      Buffer,
      Buffer,
      Buffer,
      Buffer,
    ];
    demand(id.length > 0, "no id");
    const { rpIdHash, flags, counter, rest } = readAuthenticator(authData);
    demand(rpIdHash === Buffer.from(sent.rpIdHash).toString("hex") && (flags & 0x40) === 0, "another domain");
    demandExtensions(flags, rest);
    const { type, challenge, originAllowed } = readClientData(clientData, rpIdHash, sent.allowedOrigins);
    demand(type === "webauthn.get" && originAllowed, "client data");
    demand(challenge === Buffer.from(sha256(sent.body)).toString("base64url"), "challenge");
    demand(isSigned(fromStored(sent.publicKey), authData, clientData, signature), "signature");
    return { credentialId: id.toString("base64url"), userVerified: (flags & 4) !== 0, counter };
  });
}

function fromStored(publicKey: Uint8Array): KeyObject {
  const bytes = Buffer.from(publicKey);
  if (bytes[0] === 0x30) return createPublicKey({ key: bytes, format: "der", type: "spki" });
  try {
    const point = Buffer.from(ECDH.convertKey(bytes, "prime256v1", undefined, "hex", "uncompressed") as string, "hex");
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
    return importJwk({ kty: "EC", crv: "P-256", x, y });
  } catch {
    throw new Refused("not a key");
  }
}

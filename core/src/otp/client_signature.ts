/**
 * Client signatures: the holder of the key that a verification token is bound to says what the token is used for. The signature is over the
 * exact bytes of the message; the message is then compared by meaning, because clients order and space their JSON as they like.
 */
import type { Curves } from "../crypto/curves.ts";
import { parseEcdsaDer } from "../encoding/der.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";
import type { TokenClaims } from "./verification_token.ts";

export const clientSignatureScheme = "CLIENT_SIGNATURE_SCHEME_API_P256";

/** As the wire has it. */
export type ClientSignature = { publicKey: string; scheme: string; message: string; signature: string };

/** What a request uses its token for. The lists are as the request has them. */
export type TokenUsage =
  /** The key of the session: another than the token's, if the client likes. */
  | { kind: "login"; publicKey: string }
  | ({ kind: "signup"; form: SignUpForm } & SignUp)
  /** The contact of a user who is there already, as the request spells it. */
  | { kind: "contact"; userId: string; contact: string };

/** V1 and V2 of sign-up name their part of the message differently. */
export type SignUpForm = "signup" | "signupV2";

/** What of a sign-up is signed: names of users, organizations, wallets and tags are not. */
export type SignUp = {
  apiKeys?: readonly unknown[] | null | undefined;
  authenticators?: readonly unknown[] | null | undefined;
  oauthProviders?: readonly unknown[] | null | undefined;
  email?: string | null | undefined;
  phoneNumber?: string | null | undefined;
};

/** Ten authenticators with their attestations fit. */
const maxMessageBytes = 256 * 1024;
const maxMarks = 20_000;
const rawSignatureDigits = 128;

const utf8 = new TextEncoder();

type Verifier = Pick<Curves, "verifyP256" | "compressPoint">;

/** Throws `invalid_argument` unless the token's key has signed exactly this usage of exactly this token. */
export function checkClientSignature(
  curves: Verifier,
  token: Pick<TokenClaims, "tokenId" | "publicKey">,
  { publicKey, scheme, message, signature }: ClientSignature,
  usage: TokenUsage,
): void {
  if (scheme !== clientSignatureScheme) throw invalid(`its scheme must be ${clientSignatureScheme}`);
  if (token.publicKey === undefined) throw invalid("the verification token is bound to no key");
  if (compressed(curves, publicKey) !== token.publicKey) throw invalid("its key is not that of the verification token");
  const bytes = utf8.encode(message);
  if (!curves.verifyP256(fromHex(token.publicKey), bytes, readSignature(signature))) {
    throw invalid("it does not verify");
  }
  const { type, tokenId, ...parts } = readMessage(bytes);
  if (tokenId !== token.tokenId) throw invalid("its message names another verification token");
  const expected = usageTypes[usage.kind];
  if (type !== expected) throw invalid(`the type in its message must be ${expected}`);
  if (usage.kind === "login") checkLogin(curves, parts, usage.publicKey);
  else if (usage.kind === "contact") checkContact(parts, usage);
  else checkSignUp(parts, usage);
}

/** The last one is ours. */
const usageTypes = {
  login: "USAGE_TYPE_LOGIN",
  signup: "USAGE_TYPE_SIGNUP",
  contact: "USAGE_TYPE_UPDATE_CONTACT",
} as const satisfies Record<TokenUsage["kind"], string>;

/** 64 bytes as hex; DER where it is longer. Only few clients send that. */
function readSignature(signature: string): Uint8Array {
  try {
    const bytes = fromHex(signature);
    return signature.length === rawSignatureDigits ? bytes : parseEcdsaDer(bytes);
  } catch (cause) {
    throw invalid("its signature is neither 128 hex digits nor DER", cause);
  }
}

/** Keys with the value null mean the same as none. */
function readMessage(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = readJson(bytes, maxMessageBytes, maxMarks);
  } catch (cause) {
    throw invalid("its message is no JSON document that everybody reads alike", cause);
  }
  return membersOf(value, "its message");
}

function membersOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${what} is not an object`);
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/** The one part that a usage has. What else stands in the message could mean something to another reader. */
function onlyPart(
  parts: Record<string, unknown>,
  name: "login" | "updateContact" | SignUpForm,
): Record<string, unknown> {
  const { [name]: part, ...others } = parts;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`its message has \`${other}\`, which does not belong to this request`);
  return membersOf(part, `\`${name}\` in its message`);
}

function checkLogin(curves: Verifier, parts: Record<string, unknown>, sessionKey: string): void {
  const { publicKey, ...others } = onlyPart(parts, "login");
  if (Object.keys(others).length > 0) throw invalid("`login` in its message has only a publicKey");
  if (typeof publicKey !== "string" || compressed(curves, publicKey) !== compressed(curves, sessionKey)) {
    throw invalid("its message names another publicKey than the request");
  }
}

function checkContact(parts: Record<string, unknown>, wanted: { userId: string; contact: string }): void {
  const { userId, contact, ...others } = onlyPart(parts, "updateContact");
  if (Object.keys(others).length > 0) throw invalid("`updateContact` in its message has only a userId and a contact");
  if (userId !== wanted.userId) throw invalid("its message names another userId than the request");
  if (contact !== wanted.contact) throw invalid("its message names another contact than the request");
}

const lists = ["apiKeys", "authenticators", "oauthProviders"] as const;
const contacts = ["email", "phoneNumber"] as const;

function checkSignUp(parts: Record<string, unknown>, { form, ...signUp }: SignUp & { form: SignUpForm }): void {
  const signed = onlyPart(parts, form);
  const unknown = Object.keys(signed).find((key) => !([...lists, ...contacts] as string[]).includes(key));
  if (unknown !== undefined) throw invalid(`\`${form}\` in its message has \`${unknown}\``);
  const differing =
    lists.find((name) => !isSame(signed[name] ?? [], signUp[name] ?? [])) ??
    contacts.find((name) => !isSame(signed[name] ?? "", signUp[name] ?? ""));
  if (differing !== undefined) throw invalid(`\`${differing}\` in its message differs from the request`);
}

/** Whether two JSON values mean the same: the order of keys does not matter, and a key with null is as good as none. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => isSame(item, other[index]));
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  const [left, right] = [presentMembers(one), presentMembers(other)];
  if (left.size !== right.size) return false;
  return [...left].every(([key, value]) => right.has(key) && isSame(value, right.get(key)));
}

function presentMembers(value: object): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([, member]) => member !== null && member !== undefined));
}

function compressed({ compressPoint }: Pick<Curves, "compressPoint">, publicKey: string): string {
  try {
    return toHex(compressPoint("p256", fromHex(publicKey)));
  } catch (cause) {
    throw invalid("a public key in it is no point of P-256", cause);
  }
}

function invalid(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `invalid client signature: ${why}`, { cause });
}

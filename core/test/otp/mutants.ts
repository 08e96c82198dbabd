/** Ways to bend tokens, client signatures and attested stamps: what attackers try, and what other clients might send. */
import { createHash, createHmac } from "node:crypto";
import { toEcdsaDer } from "../../src/encoding/der.ts";
import { toHex } from "../../src/encoding/hex.ts";
import type { ClientSignature, TokenUsage } from "../../src/otp/client_signature.ts";
import type { TokenClaims } from "../../src/otp/verification_token.ts";
import type { Random } from "../seeded_random.ts";
import {
  type AttestedFields,
  attestedFields,
  type ClientSignatureBase,
  type P256Key,
  p256Key,
  randomUuid,
  signMessage,
  type TokenBase,
  twinOf,
} from "./bases.ts";

const encoded = (value: string | Uint8Array) => Buffer.from(value as string).toString("base64url");
const partsOf = (token: string) => token.split(".") as [string, string, string];
const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(partsOf(token)[1], "base64url").toString());
const usualHeader = '{"typ":"JWT","alg":"ES256"}';

function signed(key: P256Key, header: string, payload: string): string {
  const text = `${encoded(header)}.${encoded(payload)}`;
  return `${text}.${encoded(key.sign(Buffer.from(text)))}`;
}

function flipped(text: string, random: Random): string {
  const at = random.below(text.length);
  const other = random.pick([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ "]);
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
}

/** Claims as our own key would have signed them, had it been asked to: strictness is seen only where the signature holds. */
function resigned(change: (claims: Record<string, unknown>, random: Random) => unknown): TokenMutator {
  return ({ token }, random, otp) => {
    const changed = change(claimsOf(token), random);
    return signed(otp, usualHeader, typeof changed === "string" ? changed : JSON.stringify(changed));
  };
}

/** Claims that are altered without the key. */
function unsigned(change: (claims: Record<string, unknown>, random: Random) => unknown): TokenMutator {
  return ({ token }, random) => {
    const [header, , signature] = partsOf(token);
    return `${header}.${encoded(JSON.stringify(change(claimsOf(token), random)))}.${signature}`;
  };
}

function withHeader(header: string): TokenMutator {
  return ({ token }, _, otp) => signed(otp, header, JSON.stringify(claimsOf(token)));
}

export type TokenMutator = (base: TokenBase, random: Random, otp: P256Key, others: readonly TokenBase[]) => string;

export const tokenMutators: Readonly<Record<string, TokenMutator>> = {
  untouched: ({ token }) => token,
  "one character": ({ token }, random) => flipped(token, random),
  "two characters": ({ token }, random) => flipped(flipped(token, random), random),
  "cut short": ({ token }, random) => token.slice(0, random.below(token.length)),
  "something behind": ({ token }, random) => `${token}${random.pick([".", " ", "=", "A", "\n", ".e30"])}`,
  "something before": ({ token }, random) => `${random.pick([" ", ".", "Bearer "])}${token}`,
  "padded parts": ({ token }) =>
    partsOf(token)
      .map((part) => part.padEnd(Math.ceil(part.length / 4) * 4, "="))
      .join("."),
  "plain base64": ({ token }) => token.replaceAll("-", "+").replaceAll("_", "/"),
  "unused bits": ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    const last = signature.slice(-1);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return `${header}.${payload}.${signature.slice(0, -1)}${alphabet[alphabet.indexOf(last) ^ 1]}`;
  },
  "no algorithm": ({ token }) => `${encoded('{"typ":"JWT","alg":"none"}')}.${partsOf(token)[1]}.`,
  "no algorithm, old signature": ({ token }) =>
    `${encoded('{"typ":"JWT","alg":"none"}')}.${partsOf(token)[1]}.${partsOf(token)[2]}`,
  "HMAC with the public key": ({ token }, random, otp) => {
    const text = `${encoded('{"typ":"JWT","alg":"HS256"}')}.${partsOf(token)[1]}`;
    const key = Buffer.from(random.pick([otp.publicKey, otp.longPublicKey]), "hex");
    return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
  },
  "another algorithm, signed": withHeader('{"typ":"JWT","alg":"ES384"}'),
  "a session's header, signed": withHeader('{"alg":"ES256","typ":"JWT"}'),
  "a key in the header, signed": withHeader('{"typ":"JWT","alg":"ES256","kid":"1"}'),
  "blanks in the header, signed": withHeader('{"typ": "JWT", "alg": "ES256"}'),
  "a session token of the same claims": ({ token }, _, otp) => {
    const text = `${encoded('{"alg":"ES256","typ":"JWT"}')}.${partsOf(token)[1]}`;
    return `${text}.${encoded(otp.sign(createHash("sha256").update(text).digest()))}`;
  },
  "hashed twice": ({ token }, _, otp) => {
    const [header, payload] = partsOf(token);
    const text = `${header}.${payload}`;
    return `${text}.${encoded(otp.sign(createHash("sha256").update(text).digest()))}`;
  },
  "another key": ({ token, holder }) => signed(holder, usualHeader, JSON.stringify(claimsOf(token))),
  "the other s": ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    return `${header}.${payload}.${encoded(twinOf(Buffer.from(signature, "base64url")))}`;
  },
  "a signature as DER": ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    return `${header}.${payload}.${encoded(toEcdsaDer(Buffer.from(signature, "base64url")))}`;
  },
  "a signature of zeros": ({ token }, random) =>
    `${partsOf(token).slice(0, 2).join(".")}.${encoded(new Uint8Array(random.pick([0, 63, 64, 65])))}`,
  "parts of two tokens": ({ token }, random, _, others) => {
    const other = partsOf(random.pick(others).token);
    const own = partsOf(token);
    return own.map((part, index) => (random.next() < 0.5 ? part : other[index])).join(".");
  },
  "another contact": unsigned((claims) => ({ ...claims, contact: "other@example.com" })),
  "a later end": unsigned((claims) => ({ ...claims, exp: String(Number(claims.exp) + 1) })),
  "another bound key": unsigned((claims, random) => ({ ...claims, public_key: p256Key(random).publicKey })),
  "another order, signed": resigned((claims) => Object.fromEntries(Object.entries(claims).reverse())),
  "blanks, signed": resigned((claims) => JSON.stringify(claims, null, 1)),
  "a number for a time, signed": resigned((claims) => ({ ...claims, exp: Number(claims.exp) })),
  "a strange time, signed": resigned((claims, random) => ({
    ...claims,
    exp: random.pick(["", "0", "-1", "1e15", "0123", " 1800000000000", "9999999999999999", "18000000000001"]),
  })),
  "another claim, signed": resigned((claims, random) => ({
    ...claims,
    [random.pick(["iss", "aud", "nonce", "session_type", "user_id", "EXP"])]: "x",
  })),
  "a missing claim, signed": resigned((claims, random) => {
    const { [random.pick(Object.keys(claims))]: _, ...rest } = claims;
    return rest;
  }),
  "a claim twice, signed": resigned((claims, random) => {
    const text = JSON.stringify(claims);
    const name = random.pick(Object.keys(claims));
    return `${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(claims[name])}}`;
  }),
  "a claim of another kind, signed": resigned((claims, random) => ({
    ...claims,
    [random.pick(Object.keys(claims))]: random.pick([null, 1, true, [], {}, "", "x"]),
  })),
  "upper case, signed": resigned((claims, random) => {
    const name = random.pick(["id", "organization_id", "public_key", "contact", "verification_type"]);
    return { ...claims, ...(claims[name] !== undefined && { [name]: String(claims[name]).toUpperCase() }) };
  }),
  "no object, signed": resigned((claims, random) => random.pick([[claims], "x", 1, null])),
};

const usageTypes = ["USAGE_TYPE_LOGIN", "USAGE_TYPE_SIGNUP", "USAGE_TYPE_UPDATE_CONTACT"] as const;
const partNames = ["login", "signup", "signupV2", "updateContact"] as const;

export type ClientSignatureMutant = { sent: ClientSignature; token: TokenClaims; usage: TokenUsage };

type ClientSignatureMutator = (base: ClientSignatureBase, random: Random) => ClientSignatureMutant;

/** Signs another message than the base's. */
function saying(change: (base: ClientSignatureBase, random: Random) => unknown): ClientSignatureMutator {
  return (base, random) => {
    const message = change(base, random);
    const text = typeof message === "string" ? message : JSON.stringify(message);
    return { ...base, sent: signMessage(base.holder, text) };
  };
}

function sending(
  change: (sent: ClientSignature, random: Random, base: ClientSignatureBase) => Partial<ClientSignature>,
) {
  return (base: ClientSignatureBase, random: Random): ClientSignatureMutant => {
    const sent = signMessage(base.holder, JSON.stringify(base.message));
    return { ...base, sent: { ...sent, ...change(sent, random, base) } };
  };
}

const partOf = ({ message }: ClientSignatureBase): [string, Record<string, unknown>] => {
  const [name = "", part] = Object.entries(message).find(([key]) => key !== "tokenId" && key !== "type") ?? [];
  return [name, part as Record<string, unknown>];
};

export const clientSignatureMutators: Readonly<Record<string, ClientSignatureMutator>> = {
  untouched: saying(({ message }) => message),
  "another order": saying(({ message }) => Object.fromEntries(Object.entries(message).reverse())),
  blanks: saying(({ message }, random) => JSON.stringify(message, null, random.pick([1, "\t", "  "]))),
  "nulls beside": saying(({ message }) => ({ ...message, other: null })),
  "nulls inside": saying((base) => ({ ...base.message, [partOf(base)[0]]: { ...partOf(base)[1], x: null } })),
  "a byte of the message": sending(({ message }, random) => ({ message: flipped(message, random) })),
  "a digit of the signature": sending(({ signature }, random) => ({ signature: flipped(signature, random) })),
  "a cut signature": sending(({ signature }, random) => ({ signature: signature.slice(0, random.below(130)) })),
  "upper case": sending(({ signature, publicKey }) => ({
    signature: signature.toUpperCase(),
    publicKey: publicKey.toUpperCase(),
  })),
  "the long key": sending((_, __, { holder }) => ({ publicKey: holder.longPublicKey })),
  DER: sending(({ signature }) => ({ signature: toHex(toEcdsaDer(Buffer.from(signature, "hex"))) })),
  "the other s": sending(({ signature }) => ({ signature: toHex(twinOf(Buffer.from(signature, "hex"))) })),
  "bent DER": sending(({ signature }, random) => ({
    signature: flipped(toHex(toEcdsaDer(Buffer.from(signature, "hex"))), random),
  })),
  "no signature": sending((_, random) => ({ signature: random.pick(["", "00".repeat(64), "3006020100020100"]) })),
  "another scheme": sending((_, random) => ({
    scheme: random.pick(["", "SIGNATURE_SCHEME_TK_API_P256", "client_signature_scheme_api_p256"]),
  })),
  "another key's": (base, random) => {
    const other = p256Key(random);
    return { ...base, sent: signMessage(other, JSON.stringify(base.message)) };
  },
  "another key's in this one's name": (base, random) => {
    const sent = signMessage(p256Key(random), JSON.stringify(base.message));
    return { ...base, sent: { ...sent, publicKey: base.holder.publicKey } };
  },
  "no bound key": (base) => ({
    ...base,
    token: { ...base.token, publicKey: undefined },
    sent: signMessage(base.holder, JSON.stringify(base.message)),
  }),
  "another token": saying(({ message }, random) => ({ ...message, tokenId: randomUuid(random) })),
  "another type": saying(({ message }, random) => ({
    ...message,
    type: random.pick([...usageTypes, "", null, 1]),
  })),
  "another part beside": saying(({ message }, random) => ({
    [random.pick([...partNames, "x"])]: {},
    ...message,
  })),
  "another name of its part": saying((base, random) => {
    const [name, part] = partOf(base);
    const { [name]: _, ...rest } = base.message;
    return { ...rest, [random.pick(partNames)]: part };
  }),
  "a missing part": saying(({ message }, random) => {
    const { [random.pick(Object.keys(message))]: _, ...rest } = message;
    return rest;
  }),
  "a part twice": saying(({ message }, random) => {
    const name = random.pick(Object.keys(message));
    const text = JSON.stringify(message);
    return `${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(message[name])}}`;
  }),
  "more in its part": saying((base, random) => {
    const [name, part] = partOf(base);
    const more = { [random.pick(["publicKey", "email", "phoneNumber", "apiKeys", "contact", "scope"])]: "x" };
    return { ...base.message, [name]: { ...part, ...more } };
  }),
  "less in its part": saying((base, random) => {
    const [name, part] = partOf(base);
    const { [random.pick(Object.keys(part))]: _, ...rest } = part;
    return { ...base.message, [name]: rest };
  }),
  "another request": (base, random) => {
    const sent = signMessage(base.holder, JSON.stringify(base.message));
    const { usage } = base;
    if (usage.kind === "login") return { ...base, sent, usage: { ...usage, publicKey: p256Key(random).publicKey } };
    if (usage.kind === "contact") {
      const other = random.pick([{ userId: randomUuid(random) }, { contact: "other@example.com" }, { contact: "" }]);
      return { ...base, sent, usage: { ...usage, ...other } };
    }
    const other = random.pick([
      { email: "other@example.com" },
      { email: undefined },
      { phoneNumber: "+15550000000" },
      { apiKeys: [{ apiKeyName: "c" }] },
      { apiKeys: undefined },
      { oauthProviders: null },
      { authenticators: [{}] },
      { form: "signup" as const },
    ]);
    return { ...base, sent, usage: { ...usage, ...other } };
  },
  "no document": saying((_, random) => random.pick(["", "null", "[]", "1", '"x"', "{", "\ufeff{}"])),
};

export type AttestedMutant = { header: string; body: Uint8Array };

type AttestedMutator = (base: TokenBase, random: Random, otp: P256Key, others: readonly TokenBase[]) => AttestedMutant;

export const attestedBody = Buffer.from('{"type":"ACTIVITY_TYPE_STAMP_LOGIN","timestampMs":"1800000000000"}');

const headerOf = (fields: unknown) => encoded(JSON.stringify(fields));

function carrying(
  change: (fields: AttestedFields, random: Random, base: TokenBase) => Record<string, unknown>,
): AttestedMutator {
  return (base, random) => {
    const fields = attestedFields(base, attestedBody);
    return { header: headerOf({ ...fields, ...change(fields, random, base) }), body: attestedBody };
  };
}

const derOf = (hex: string) => Buffer.from(hex, "hex");

export const attestedMutators: Readonly<Record<string, AttestedMutator>> = {
  untouched: carrying(() => ({})),
  "plain JSON": (base) => ({ header: JSON.stringify(attestedFields(base, attestedBody)), body: attestedBody }),
  "padded base64": (base) => ({
    header: Buffer.from(JSON.stringify(attestedFields(base, attestedBody))).toString("base64"),
    body: attestedBody,
  }),
  "one character": (base, random) => ({
    header: flipped(headerOf(attestedFields(base, attestedBody)), random),
    body: attestedBody,
  }),
  "one character of plain JSON": (base, random) => ({
    header: flipped(JSON.stringify(attestedFields(base, attestedBody)), random),
    body: attestedBody,
  }),
  "another body": (base, random) => ({
    header: headerOf(attestedFields(base, attestedBody)),
    body: Buffer.from(flipped(attestedBody.toString(), random)),
  }),
  "the long key": carrying((_, __, { holder }) => ({ publicKey: holder.longPublicKey })),
  "a false long key": carrying((_, random, { holder }) => ({
    publicKey: `${holder.longPublicKey.slice(0, 66)}${flipped(holder.longPublicKey.slice(66), random)}`,
  })),
  "upper case": carrying(({ publicKey, signature }) => ({
    publicKey: publicKey.toUpperCase(),
    signature: signature.toUpperCase(),
  })),
  "a digit of the signature": carrying(({ signature }, random) => ({ signature: flipped(signature, random) })),
  "a digit of the key": carrying(({ publicKey }, random) => ({ publicKey: flipped(publicKey, random) })),
  "a character of the token": carrying(({ publicKeyAttestation }, random) => ({
    publicKeyAttestation: flipped(publicKeyAttestation, random),
  })),
  "zeros before r": carrying(({ signature }) => {
    const der = derOf(signature);
    const rLength = der[3] ?? 0;
    const longer = Buffer.concat([Buffer.from([0]), der.subarray(4)]);
    return {
      signature: Buffer.concat([Buffer.from([0x30, (der[1] ?? 0) + 1, 2, rLength + 1]), longer]).toString("hex"),
    };
  }),
  "a raw signature": carrying((_, __, { holder }) => ({ signature: toHex(holder.sign(attestedBody)) })),
  "another scheme": carrying((_, random) => ({
    scheme: random.pick(["STAMP_ATTESTED_SCHEME_P256_OIDC", "SIGNATURE_SCHEME_TK_API_P256", "", "__proto__"]),
  })),
  "more fields": carrying(() => ({ more: [1, { deep: true }] })),
  "a field of another kind": carrying((fields, random) => ({
    [random.pick(Object.keys(fields))]: random.pick([null, 1, [], {}, ""]),
  })),
  "a field twice": (base, random) => {
    const fields: Record<string, string> = attestedFields(base, attestedBody);
    const name = random.pick(Object.keys(fields));
    const text = JSON.stringify(fields);
    return {
      header: encoded(`${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(fields[name])}}`),
      body: attestedBody,
    };
  },
  "another's token": (base, random, _, others) => ({
    header: headerOf({
      ...attestedFields(base, attestedBody),
      publicKeyAttestation: random.pick(others.filter((other) => other !== base)).token,
    }),
    body: attestedBody,
  }),
  "another's key and signature": (base, random) => {
    const holder = p256Key(random);
    const { publicKey, signature } = attestedFields({ ...base, holder }, attestedBody);
    return {
      header: headerOf({ ...attestedFields(base, attestedBody), publicKey, signature }),
      body: attestedBody,
    };
  },
  "a token by its own key": carrying(({ publicKeyAttestation }, __, { holder }) => ({
    publicKeyAttestation: signed(holder, usualHeader, JSON.stringify(claimsOf(publicKeyAttestation))),
  })),
  "an unbound token": (base, _, otp) => {
    const { public_key: __, ...claims } = claimsOf(base.token);
    const token = signed(otp, usualHeader, JSON.stringify(claims));
    return { header: headerOf(attestedFields({ ...base, token }, attestedBody)), body: attestedBody };
  },
};

/** Ways to spoil an identity token, or a statement about its issuer. None of the results may be accepted. */
import { createHmac } from "node:crypto";
import { toBase64url } from "../../src/encoding/base64url.ts";
import type { Random } from "../seeded_random.ts";
import {
  issueToken,
  publishedKeys,
  signatureOf,
  signCompact,
  type TestClaims,
  type TestIssuerKey,
} from "./test_issuer.ts";

export type TokenBase = { key: TestIssuerKey; claims: TestClaims; token: string };
type Spoil = (base: TokenBase, random: Random, others: readonly TokenBase[], stranger: TestIssuerKey) => string;

const partsOf = (token: string) => token.split(".") as [string, string, string];
const textOf = (part: string) => Buffer.from(part, "base64url").toString();
const joined = (...parts: (string | Uint8Array)[]) =>
  parts.map((part) => (typeof part === "string" ? part : toBase64url(part))).join(".");
const encoded = (text: string) => toBase64url(Buffer.from(text));

/** Changes one bit of one part's bytes. */
function flipped(token: string, part: 0 | 1 | 2, random: Random): string {
  const parts = partsOf(token);
  const bytes = Uint8Array.from(Buffer.from(parts[part], "base64url"));
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  parts[part] = toBase64url(bytes);
  return joined(...parts);
}

/** Writes header or claims anew under the old signature. */
function rewritten({ token }: TokenBase, part: 0 | 1, change: (members: Record<string, unknown>) => void): string {
  const parts = partsOf(token);
  const members = JSON.parse(textOf(parts[part]));
  change(members);
  parts[part] = encoded(JSON.stringify(members));
  return joined(...parts);
}

const refusedHeaders = [
  ...[{ alg: "none" }, { alg: "HS256" }, { jku: "https://a.b" }, { x5u: "https://a.b" }, { x5c: ["AA=="] }],
  ...[{ crit: ["b64"], b64: false }, { cty: "JWT" }, { typ: "at+jwt" }, { kid: 1 }, { alg: 1 }],
];

export const tokenSpoils: Readonly<Record<string, Spoil>> = {
  "a bit of the header": ({ token }, random) => flipped(token, 0, random),
  "a bit of the claims": ({ token }, random) => flipped(token, 1, random),
  "a bit of the signature": ({ token }, random) => flipped(token, 2, random),
  "a character": ({ token }, random) => {
    const at = random.below(token.length);
    const other = random.pick([..."ABCabc019-_+/=. \n\u00e9"].filter((each) => each !== token[at]));
    return `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
  },
  "a character more": ({ token }, random) => {
    const at = random.below(token.length + 1);
    return `${token.slice(0, at)}${random.pick([..."Aa0-_=. \n\0"])}${token.slice(at)}`;
  },
  "cut off": ({ token }, random) => token.slice(0, random.below(token.length)),
  "another token's header": ({ token }, random, others) => {
    const [, payload, signature] = partsOf(token);
    const [header] = partsOf(
      random.pick(others.filter((other) => partsOf(other.token)[0] !== partsOf(token)[0])).token,
    );
    return joined(header, payload, signature);
  },
  "another token's claims": ({ token }, random, others) => {
    const [header, , signature] = partsOf(token);
    return joined(header, partsOf(random.pick(others.filter((other) => other.token !== token)).token)[1], signature);
  },
  "another token's signature": ({ token }, random, others) => {
    const [header, payload] = partsOf(token);
    return joined(header, payload, partsOf(random.pick(others.filter((other) => other.token !== token)).token)[2]);
  },
  "another claim under the old signature": (base, random) =>
    rewritten(base, 1, (claims) => {
      claims[random.pick(["sub", "aud", "exp", "nonce", "email"])] = random.pick(["other", 4_000_000_000]);
    }),
  "another header under the old signature": (base, random) =>
    rewritten(base, 0, (header) => {
      header[random.pick(["kid", "typ", "more"])] = random.pick(["jwt", "key", "other"]);
    }),
  "a header that is refused, well signed": ({ key, claims }, random) =>
    issueToken(key, claims, random.pick(refusedHeaders)),
  "the issuer's key brought along": ({ key, claims }, _random, _others, stranger) =>
    issueToken({ ...stranger, kid: key.kid }, claims, { alg: stranger.algorithm, jwk: stranger.jwk }),
  "a stranger's key under the issuer's name": ({ key, claims }, _random, _others, stranger) =>
    issueToken({ ...stranger, kid: key.kid }, claims),
  "no signature": ({ token }, random) => {
    const [header, payload] = partsOf(token);
    return random.pick([
      joined(header, payload, ""),
      joined(header, payload),
      joined(encoded('{"alg":"none"}'), payload, ""),
    ]);
  },
  "an HMAC with what is published": ({ key, claims }, random) => {
    const signed = `${encoded(JSON.stringify({ alg: "HS256", kid: key.kid }))}.${encoded(JSON.stringify(claims))}`;
    const secret = random.pick([publishedKeys([key]), JSON.stringify(key.jwk), String(key.jwk.n ?? key.jwk.x)]);
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  },
  "a claim twice, well signed": ({ key, claims }, random) => {
    const twice = random.pick(['"sub":"a"', '"exp":4000000000', '"aud":"b"', '"iss":"https://other.example"']);
    return signCompact(
      key,
      JSON.stringify({ alg: key.algorithm, kid: key.kid }),
      `{${twice},${JSON.stringify(claims).slice(1)}`,
    );
  },
  "a member of the header twice, well signed": ({ key, claims }, random) => {
    const header = JSON.stringify({ alg: key.algorithm, kid: key.kid });
    const twice = random.pick([`"alg":"${key.algorithm}"`, '"kid":"other"', '"alg":"none"']);
    return signCompact(key, `{${twice},${header.slice(1)}`, JSON.stringify(claims));
  },
  "a claim of the wrong kind, well signed": ({ key, claims }, random) => {
    const wrong = { iss: 1, sub: "", aud: ["a", "b"], exp: 1, nbf: 9_000_000_000, iat: 9_000_000_000, azp: "other" };
    const name = random.pick(Object.keys(wrong) as (keyof typeof wrong)[]);
    return issueToken(key, { ...claims, [name]: wrong[name] });
  },
  "a signature of another length": ({ token, key }, random) => {
    const [header, payload] = partsOf(token);
    const signature = signatureOf(key, Buffer.from(`${header}.${payload}`));
    const longer = Uint8Array.of(...signature, random.below(256));
    return joined(header, payload, random.pick([longer, signature.subarray(1), Uint8Array.of(0, ...signature)]));
  },
};

type SpoilBytes = (bytes: Uint8Array, random: Random, others: readonly Uint8Array[]) => Uint8Array;

function spliced(bytes: Uint8Array, at: number, removed: number, ...inserted: number[]): Uint8Array {
  return Uint8Array.of(...bytes.subarray(0, at), ...inserted, ...bytes.subarray(at + removed));
}

export const statementSpoils: Readonly<Record<string, SpoilBytes>> = {
  "a bit": (bytes, random) => {
    const copy = Uint8Array.from(bytes);
    const at = random.below(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  "a byte more": (bytes, random) => spliced(bytes, random.below(bytes.length + 1), 0, random.below(256)),
  "a byte less": (bytes, random) => spliced(bytes, random.below(bytes.length), 1),
  "cut off": (bytes, random) => bytes.slice(0, random.below(bytes.length)),
  "another one's MAC": (bytes, random, others) => {
    const other = random.pick(others.filter((each) => !Buffer.from(each).equals(bytes)));
    return Uint8Array.of(...bytes.subarray(0, -32), ...other.subarray(-32));
  },
  "another one's end": (bytes, random, others) => {
    const other = random.pick(others.filter((each) => !Buffer.from(each).equals(bytes)));
    const at = 1 + random.below(bytes.length - 40);
    return Uint8Array.of(...bytes.subarray(0, at), ...other.subarray(-40));
  },
  "no MAC": (bytes) => Uint8Array.of(...bytes.subarray(0, -32), ...new Uint8Array(32)),
  "nothing but chance": (_bytes, random) => Uint8Array.from({ length: random.below(300) }, () => random.below(256)),
};

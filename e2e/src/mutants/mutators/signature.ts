/** Signatures and keys: every other way to write them, and every near miss. */
import { ECDH } from "node:crypto";
import type { Random } from "../../../../core/test/seeded_random.ts";
import { flipBit } from "../bend.ts";
import type { Draft, Mutator } from "../draft.ts";
import { signFields } from "../sign.ts";

const orders = {
  API_KEY_CURVE_P256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  API_KEY_CURVE_SECP256K1: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
} as const;

/** The order of the base point of Ed25519. */
const ed25519Order = 2n ** 252n + 27742317777372353535851937790883648493n;

function changed(name: string, bend: (draft: Draft, random: Random) => unknown): Mutator {
  return { name, at: "stamp", bend };
}

function integer(digits: string): string {
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return `02${hexByte(even.length / 2)}${even}`;
}

/** As DER wants a positive number. */
function minimal(value: bigint): string {
  const digits = value.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return integer(Number.parseInt(even.slice(0, 2), 16) > 0x7f ? `00${even}` : even);
}

function hexByte(value: number): string {
  return (value & 0xff).toString(16).padStart(2, "0");
}

function sequence(content: string): string {
  return `30${hexByte(content.length / 2)}${content}`;
}

type Parts = { r: bigint; s: bigint; n: bigint };

/** The numbers of a signature that nobody has bent yet; of the two curves that have them. */
function partsOf({ stamp, key }: Draft): Parts | false {
  if (key.curve === "API_KEY_CURVE_ED25519") return false;
  const match = /^30..02(..)/.exec(stamp.signature);
  const length = Number.parseInt(match?.[1] ?? "", 16) * 2;
  const r = stamp.signature.slice(8, 8 + length);
  const s = stamp.signature.slice(8 + length + 4);
  if (!/^[0-9a-f]+$/.test(r) || !/^[0-9a-f]+$/.test(s)) return false;
  return { r: BigInt(`0x${r}`), s: BigInt(`0x${s}`), n: orders[key.curve] };
}

/** A signature of two numbers, written otherwise. */
function der(name: string, write: (parts: Parts, random: Random) => string): Mutator {
  return changed(name, (draft, random) => {
    const parts = partsOf(draft);
    if (parts === false) return false;
    draft.stamp.signature = write(parts, random);
  });
}

const padded = (value: bigint, bytes: number) => integer(value.toString(16).padStart(2 * bytes, "0"));

const encodings: readonly Mutator[] = [
  der("high s, or low", ({ r, s, n }) => sequence(minimal(r) + minimal(n - s))),
  der("integers of 33 bytes", ({ r, s }) => sequence(padded(r, 33) + padded(s, 33))),
  der("integers of 34 bytes", ({ r, s }) => sequence(padded(r, 34) + padded(s, 34))),
  der("integers of 32 bytes, whatever their sign", ({ r, s }) => sequence(padded(r, 32) + padded(s, 32))),
  der("integers as short as they can be, whatever their sign", ({ r, s }) =>
    sequence(integer(r.toString(16)) + integer(s.toString(16))),
  ),
  der("a length in long form", ({ r, s }) => {
    const content = minimal(r) + minimal(s);
    return `3081${hexByte(content.length / 2)}${content}`;
  }),
  der("a length in two bytes", ({ r, s }) => {
    const content = minimal(r) + minimal(s);
    return `308200${hexByte(content.length / 2)}${content}`;
  }),
  der("an integer's length in long form", ({ r, s }) => {
    const own = minimal(r);
    return sequence(`0281${own.slice(2)}${minimal(s)}`);
  }),
  der("no length at all", ({ r, s }) => `3080${minimal(r)}${minimal(s)}0000`),
  der("a wrong length", ({ r, s }, { pick }) => {
    const content = minimal(r) + minimal(s);
    return `30${hexByte(content.length / 2 + pick([-1, 1, 2, 64, 127]))}${content}`;
  }),
  der(
    "bytes behind the sequence",
    ({ r, s }, { pick }) => sequence(minimal(r) + minimal(s)) + pick(["00", "0500", "ff"]),
  ),
  der("bytes inside the sequence", ({ r, s }, { pick }) =>
    sequence(minimal(r) + minimal(s) + pick(["00", "0500", "020100"])),
  ),
  der("three integers", ({ r, s }) => sequence(minimal(r) + minimal(s) + minimal(s))),
  der("one integer", ({ r }) => sequence(minimal(r))),
  der("integers under another tag", ({ r, s }, { pick }) => {
    const tag = pick(["03", "04", "82", "22", "0a"]);
    return sequence(tag + minimal(r).slice(2) + minimal(s));
  }),
  der(
    "a set instead of a sequence",
    ({ r, s }, { pick }) => pick(["31", "10", "70"]) + sequence(minimal(r) + minimal(s)).slice(2),
  ),
  der("a sequence in a sequence", ({ r, s }) => sequence(sequence(minimal(r) + minimal(s)))),
  der("an empty integer", ({ s }) => sequence(`0200${minimal(s)}`)),
  der("negative r", ({ r, s, n }) => sequence(padded(2n ** 256n - r, 32) + minimal(n - s))),
  der("r zero", ({ s }) => sequence(minimal(0n) + minimal(s))),
  der("s zero", ({ r }) => sequence(minimal(r) + minimal(0n))),
  der("both zero", () => sequence(minimal(0n) + minimal(0n))),
  der("r is n", ({ s, n }) => sequence(minimal(n) + minimal(s))),
  der("s is n", ({ r, n }) => sequence(minimal(r) + minimal(n))),
  der("r and n more", ({ r, s, n }) => sequence(minimal(r + n) + minimal(s))),
  der("s and n more", ({ r, s, n }) => sequence(minimal(r) + minimal(s + n))),
  der("r and n more in 32 bytes", ({ r, s, n }) => sequence(padded((r + n) % 2n ** 256n, 32) + minimal(s))),
  der("r and s one", () => sequence(minimal(1n) + minimal(1n))),
  der("r and s the other way round", ({ r, s }) => sequence(minimal(s) + minimal(r))),
  der("r and s without DER", ({ r, s }) => r.toString(16).padStart(64, "0") + s.toString(16).padStart(64, "0")),
  changed("DER around Ed25519", ({ stamp, key }) => {
    if (key.curve !== "API_KEY_CURVE_ED25519") return false;
    stamp.signature = sequence(padded(BigInt(`0x${stamp.signature.slice(0, 64)}`), 33) + padded(1n, 33));
  }),
  changed("Ed25519 with s and the order more", ({ stamp, key }) => {
    if (key.curve !== "API_KEY_CURVE_ED25519") return false;
    const little = Buffer.from(stamp.signature.slice(64), "hex").reverse().toString("hex");
    const more = (BigInt(`0x${little}`) + ed25519Order).toString(16).padStart(64, "0");
    stamp.signature = stamp.signature.slice(0, 64) + Buffer.from(more, "hex").reverse().toString("hex");
  }),
];

function spelled(name: string, bend: (signature: string, random: Random) => string): Mutator {
  return changed(name, ({ stamp }, random) => {
    stamp.signature = bend(stamp.signature, random);
  });
}

const spellings: readonly Mutator[] = [
  spelled("a bit of the signature", (hex, random) => flipBit(Buffer.from(hex, "hex"), random).toString("hex")),
  spelled("the signature cut", (hex, { below }) => hex.slice(0, below(hex.length))),
  spelled("the signature twice", (hex) => hex + hex),
  spelled("the signature in capitals", (hex) => hex.toUpperCase()),
  spelled("the signature with 0x", (hex) => `0x${hex}`),
  spelled("the signature with spaces", (hex, { pick }) =>
    pick([` ${hex}`, `${hex} `, `${hex}\n`, `${hex.slice(0, 8)} ${hex.slice(8)}`]),
  ),
  spelled("the signature in base64", (hex) => Buffer.from(hex, "hex").toString("base64")),
  spelled("an empty signature", () => ""),
  spelled("all zeros", (hex) => "0".repeat(hex.length)),
];

/** A good signature of something else. */
const swaps: readonly Mutator[] = [
  changed("the signature of other bytes", ({ stamp, key, scheme, seed }, { pick }) => {
    stamp.signature = signFields(key, scheme, pick(seed.others).body).signature;
  }),
  changed("another user's signature", ({ stamp, seed: { place }, scheme, key, body }) => {
    stamp.signature = signFields(sameCurve(place.member, key.curve), scheme, body).signature;
  }),
  changed("another user's key", ({ stamp, seed: { place }, key }) => {
    stamp.publicKey = sameCurve(place.member, key.curve).publicKey;
  }),
  changed("a stranger's key", ({ stamp, seed: { places }, key }) => {
    stamp.publicKey = sameCurve(places.other.root, key.curve).publicKey;
  }),
  changed("a stranger's signature", ({ stamp, seed: { places }, scheme, key, body }) => {
    stamp.signature = signFields(sameCurve(places.other.root, key.curve), scheme, body).signature;
  }),
  changed("another request's whole stamp", ({ stamp, seed }, { pick }) => {
    const { body, key } = pick(seed.others);
    const scheme = `SIGNATURE_SCHEME_TK_API_${key.curve.replace("API_KEY_CURVE_", "")}`;
    Object.assign(stamp, signFields(key, scheme as Parameters<typeof signFields>[1], body));
  }),
];

function sameCurve(person: Draft["person"], curve: Draft["key"]["curve"]): Draft["key"] {
  return [person.p256, person.secp256k1, person.ed25519].find((key) => key.curve === curve) ?? person.p256;
}

function keyed(
  name: string,
  bend: (hex: string, curve: "prime256v1" | "secp256k1", random: Random) => string,
): Mutator {
  return changed(name, ({ stamp, key }, random) => {
    if (key.curve === "API_KEY_CURVE_ED25519") return false;
    stamp.publicKey = bend(stamp.publicKey, key.curve === "API_KEY_CURVE_P256" ? "prime256v1" : "secp256k1", random);
  });
}

function convert(hex: string, curve: string, form: "uncompressed" | "hybrid"): string {
  try {
    return ECDH.convertKey(hex, curve, "hex", "hex", form) as string;
  } catch {
    return hex;
  }
}

const keys: readonly Mutator[] = [
  keyed("an uncompressed key", (hex, curve) => convert(hex, curve, "uncompressed")),
  keyed("a hybrid key", (hex, curve) => convert(hex, curve, "hybrid")),
  keyed("an uncompressed key off the curve", (hex, curve, random) => {
    const point = Buffer.from(convert(hex, curve, "uncompressed"), "hex");
    return Buffer.concat([point.subarray(0, 1), flipBit(point.subarray(1), random)]).toString("hex");
  }),
  keyed("the key's mirror image", (hex) => (hex.startsWith("02") ? "03" : "02") + hex.slice(2)),
  keyed("a key without its first byte", (hex) => hex.slice(2)),
  keyed("the key of infinity", () => "00"),
  changed("a bit of the key", ({ stamp }, random) => {
    stamp.publicKey = flipBit(Buffer.from(stamp.publicKey, "hex"), random).toString("hex");
  }),
  changed("the key in capitals", ({ stamp }) => {
    stamp.publicKey = stamp.publicKey.toUpperCase();
  }),
  changed("the key with 0x", ({ stamp }) => {
    stamp.publicKey = `0x${stamp.publicKey}`;
  }),
  changed("a key of zeros", ({ stamp }) => {
    stamp.publicKey = "0".repeat(stamp.publicKey.length);
  }),
];

const schemeNames = [
  "SIGNATURE_SCHEME_TK_API_P256",
  "SIGNATURE_SCHEME_TK_API_SECP256K1",
  "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191",
  "SIGNATURE_SCHEME_TK_API_ED25519",
] as const;

const schemeMutators: readonly Mutator[] = [
  changed("another scheme's name", ({ stamp }, { pick }) => {
    stamp.scheme = pick(schemeNames.filter((name) => name !== stamp.scheme));
  }),
  changed("a scheme that is none", ({ stamp }, { pick }) => {
    const { scheme } = stamp;
    stamp.scheme = pick([
      "",
      "toString",
      "__proto__",
      "constructor",
      "none",
      scheme.toLowerCase(),
      ` ${scheme}`,
      `${scheme}_`,
    ]);
  }),
];

export const signatureMutators: readonly Mutator[] = [...encodings, ...spellings, ...swaps, ...keys, ...schemeMutators];

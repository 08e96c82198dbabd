/** Bytes, signatures and authenticator data, bent in ways that do not depend on where they are used. */
import { parseEcdsaDer, toEcdsaDer } from "../../src/encoding/der.ts";
import type { Random } from "../seeded_random.ts";
import { type AuthenticatorParts, attestedData, flags, sha256, type TestPasskey } from "./authenticator.ts";
import { randomBytes } from "./bases.ts";
import { type CborNode, countValues, writeCbor } from "./cbor_writer.ts";

type Bytes = Uint8Array;

export function bitFlipped(bytes: Bytes, random: Random): Bytes {
  if (bytes.length === 0) return Uint8Array.of(0);
  const at = random.below(bytes.length);
  return bytes.map((byte, i) => (i === at ? byte ^ (1 << random.below(8)) : byte));
}

/** A byte replaced, inserted, removed or doubled; a piece cut off or added. */
export function bytesChanged(bytes: Bytes, random: Random): Bytes {
  const at = random.below(bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const join = (...parts: Iterable<number>[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
  return random.pick([
    () => join(before, randomBytes(random, 1), after.subarray(1)),
    () => join(before, randomBytes(random, 1), after),
    () => join(before, after.subarray(1)),
    () => join(before, after.subarray(0, 1), after),
    () => before,
    () => join(bytes, randomBytes(random, 1 + random.below(3))),
    () => join(bytes, [0]),
  ])();
}

/** The same value, written otherwise in one place. */
export function rewritten(node: CborNode, random: Random): Bytes {
  const how = random.pick(["long", "open", "tagged"] as const);
  return writeCbor(node, { at: random.below(countValues(node)), how });
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const toBytes = (value: bigint, length: number) => Uint8Array.fromHex(value.toString(16).padStart(2 * length, "0"));
const toNumber = (bytes: Bytes) => BigInt(`0x${bytes.toHex()}`);

const integer = (value: Bytes, lengthBytes: readonly number[] = []) => [2, ...lengthBytes, value.length, ...value];
const positive = (value: Bytes) => ((value[0] ?? 0) > 0x7f ? Uint8Array.of(0, ...value) : value);
const sequence = (content: readonly number[], lengthBytes: readonly number[] = []) =>
  Uint8Array.of(0x30, ...lengthBytes, content.length, ...content);

/** Forms of an ECDSA signature: only the high s and the untouched one are right. */
function derForm(der: Bytes, random: Random): Bytes {
  const rs = parseEcdsaDer(der);
  const [r, s] = [rs.subarray(0, 32), rs.subarray(32)];
  const otherS = toBytes(order - toNumber(s), 32);
  const [rInteger, sInteger] = [integer(positive(r)), integer(positive(s))];
  const zero = new Uint8Array(32);
  return random.pick([
    () => der,
    () => toEcdsaDer(Uint8Array.of(...r, ...otherS)),
    () => toEcdsaDer(Uint8Array.of(...s, ...r)),
    () => rs,
    () => sequence([...integer(Uint8Array.of(0, ...positive(r))), ...sInteger]),
    () => sequence([...rInteger, ...integer(Uint8Array.of(0, ...positive(s)))]),
    () => sequence([...rInteger, ...sInteger], [0x81]),
    () => sequence([...integer(positive(r), [0x81]), ...sInteger]),
    () => sequence([...rInteger, ...sInteger, 0]),
    () => Uint8Array.of(...der, 0),
    () => Uint8Array.of(0x30, 0x80, ...rInteger, ...sInteger, 0, 0),
    () => Uint8Array.of(0x31, ...der.subarray(1)),
    () => sequence([...integer(r), ...integer(s)]),
    () => sequence([...rInteger, ...sInteger, ...sInteger]),
    () => sequence(rInteger),
    () => toEcdsaDer(Uint8Array.of(...zero, ...s)),
    () => toEcdsaDer(Uint8Array.of(...r, ...zero)),
    () => sequence([...rInteger, ...integer(toBytes(toNumber(s) + order, 33))]),
    () => new Uint8Array(),
  ])();
}

/** Both integers in 33 bytes, as no authenticator writes them: right only where both have their top bit set. */
export function paddedIntegers({ algorithm }: TestPasskey, signature: Bytes): Bytes {
  if (algorithm !== "ES256") return signature;
  const rs = parseEcdsaDer(signature);
  return sequence([rs.subarray(0, 32), rs.subarray(32)].flatMap((value) => integer(Uint8Array.of(0, ...value))));
}

function rsaForm(signature: Bytes, random: Random): Bytes {
  return random.pick([
    () => signature,
    () => Uint8Array.of(0, ...signature),
    () => Uint8Array.of(...signature, 0),
    () => signature.subarray(1),
    () => signature.subarray(0, -1),
    () => signature.toReversed(),
    () => new Uint8Array(signature.length),
    () => new Uint8Array(signature.length).fill(1, -1),
    () => new Uint8Array(),
  ])();
}

export function signatureForm({ algorithm }: TestPasskey, signature: Bytes, random: Random): Bytes {
  return algorithm === "ES256" ? derForm(signature, random) : rsaForm(signature, random);
}

type ParameterList = TestPasskey["coseKey"];

/** A COSE key with other parameters, or the same ones written otherwise. */
export function bentCoseKey({ coseKey }: TestPasskey, random: Random): Bytes {
  const pairs: ParameterList = coseKey;
  const at = random.below(pairs.length);
  const [label, value] = pairs[at] as ParameterList[number];
  const bent = (other: CborNode) => writeCbor({ pairs: pairs.with(at, [label, other]) });
  return random.pick([
    () => writeCbor({ pairs: pairs.toReversed() }),
    () => writeCbor({ pairs: pairs.toSpliced(at, 1) }),
    () => writeCbor({ pairs: [...pairs, [label, value]] }),
    () =>
      writeCbor({
        pairs: [
          ...pairs,
          random.pick([
            [4, [2]],
            [-4, new Uint8Array(32)],
            [2, "id"],
          ] as const),
        ],
      }),
    () => bent(random.pick([0, 1, 2, 3, -7, -8, -35, -257, -65535, true, "", null])),
    () => bent(value instanceof Uint8Array ? bitFlipped(value, random) : Number(value) + 1),
    () => bent(value instanceof Uint8Array ? Uint8Array.of(0, ...value) : Number(value) - 1),
    () => bent(value instanceof Uint8Array ? value.subarray(1) : new Uint8Array(32)),
    () => rewritten({ pairs }, random),
    () => writeCbor(pairs.flatMap(([, item]) => [item])),
    () => new Uint8Array(),
  ])();
}

/** An RSA key with other numbers, some of which are taken. */
export function bentRsaKey({ coseKey }: TestPasskey, random: Random): Bytes {
  const modulus = coseKey.find(([label]) => label === -1)?.[1] as Bytes;
  const numbers = random.pick<{ modulus?: Bytes; exponent?: Bytes }>([
    { modulus: modulus.with(-1, (modulus.at(-1) ?? 0) & 0xfe) },
    { modulus: modulus.with(0, 0x7f).subarray(0, 256) },
    { modulus: modulus.with(255, 1).subarray(0, 256) },
    { modulus: Uint8Array.of(0, ...modulus) },
    { modulus: randomBytes(random, 513).fill(1) },
    { modulus: randomBytes(random, 512).fill(0xff) },
    ...["03", "ffff", "010001", "010003", "010002", "00010001", "ffffffff", "0100000001"].map((hex) => ({
      exponent: Uint8Array.fromHex(hex),
    })),
  ]);
  const values = new Map([
    [-1, numbers.modulus],
    [-2, numbers.exponent],
  ]);
  return writeCbor({ pairs: coseKey.map(([label, value]) => [label, values.get(label) ?? value]) });
}

/** One row per way of bending authenticator data; who uses them signs again, so that the signature does not decide. */
export const authenticatorBends: Readonly<
  Record<string, (parts: AuthenticatorParts, passkey: TestPasskey, random: Random) => AuthenticatorParts>
> = {
  "other flags": (parts, _passkey, random) => ({ ...parts, flags: random.below(256) }),
  "one flag": (parts, _passkey, random) => ({ ...parts, flags: parts.flags ^ (1 << random.below(8)) }),
  "another counter": (parts, _passkey, random) => ({ ...parts, counter: random.below(2 ** 32) }),
  "another domain": (parts, { rpId }, random) => ({
    ...parts,
    rpIdHash: random.pick([bitFlipped(parts.rpIdHash, random), sha256("evil.org"), sha256(`www.${rpId}`), sha256("")]),
  }),
  extensions: (parts, _passkey, random) => ({
    ...parts,
    flags: parts.flags | flags.ed,
    extensions: random.pick([
      writeCbor({ pairs: [] }),
      writeCbor({
        pairs: [
          ["a", 1],
          ["b", [true, null]],
        ],
      }),
      writeCbor({
        pairs: [
          ["a", 1],
          ["a", 1],
        ],
      }),
      rewritten(
        {
          pairs: [
            ["credProtect", 300],
            [5, "x"],
          ],
        },
        random,
      ),
      Uint8Array.of(0xa0, 0xa0),
      writeCbor([]),
      new Uint8Array(),
      Uint8Array.of(0xa1, 0x61, 0x61, 0xf9, 0, 0),
    ]),
  }),
  "more or fewer bytes": (parts, _passkey, random) => ({
    ...parts,
    extensions: bytesChanged(parts.extensions, random),
  }),
  "a new credential": (parts, passkey, random) => ({
    ...parts,
    flags: parts.flags | flags.at,
    attested: attestedData(passkey, randomBytes(random, 16)),
  }),
};

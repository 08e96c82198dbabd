/**
 * Mutants of valid registrations and assertions. Where a part is bent that a signature covers, the passkey signs again
 * most of the time: otherwise the signature alone would decide, and the other checks would never be asked.
 */
import type { Random } from "../seeded_random.ts";
import { shuffled } from "../seeded_random.ts";
import {
  type AssertionParts,
  attestationNode,
  authenticatorData,
  base64url,
  type RegistrationParts,
  signed,
} from "./authenticator.ts";
import type { AssertionBase, RegistrationBase } from "./bases.ts";
import {
  authenticatorBends,
  bentCoseKey,
  bentRsaKey,
  bitFlipped,
  bytesChanged,
  paddedIntegers,
  rewritten,
  signatureForm,
} from "./bent_bytes.ts";
import { clientDataBends, clientFields } from "./bent_client_data.ts";
import { type CborNode, writeCbor } from "./cbor_writer.ts";
import type { SecondRegistration, SecondStamp } from "./second_reading.ts";

type Pairs = readonly (readonly [CborNode, CborNode])[];
const pairsOf = (node: CborNode): Pairs => (node as { pairs: Pairs }).pairs;

/** Base64url, or one of the other spellings. */
function spelled(bytes: Uint8Array, random: Random): string {
  const [url, plain] = [base64url(bytes), Buffer.from(bytes).toString("base64")];
  return random.pick([
    url,
    plain,
    plain.replace(/=+$/, ""),
    url.padEnd(plain.length, "="),
    `${url}=`,
    `${url}A`,
    ` ${url}`,
  ]);
}

export type Sent<T> = Omit<T, "publicKey" | "rpIdHash"> & Partial<T>;

function sentRegistration({ passkey, allowedOrigins }: RegistrationBase, parts: RegistrationParts): SecondRegistration {
  return {
    challenge: parts.challenge,
    credentialId: base64url(passkey.credentialId),
    clientDataJson: base64url(parts.clientDataJson),
    attestationObject: base64url(writeCbor(attestationNode(parts))),
    allowedOrigins,
  };
}

type RegistrationMutator = (
  base: RegistrationBase,
  random: Random,
  bases: readonly RegistrationBase[],
) => SecondRegistration;

/** The parts changed and, mostly, signed again; else the statement is the one over the unchanged parts. */
function withParts(base: RegistrationBase, random: Random, changes: Partial<RegistrationParts>): SecondRegistration {
  const { parts } = base;
  const old = parts.statement(authenticatorData(parts.authenticator), parts.clientDataJson);
  const statement = random.below(5) === 0 ? () => old : parts.statement;
  return sentRegistration(base, { ...parts, statement, ...changes });
}

function withObject(base: RegistrationBase, change: (pairs: Pairs) => Uint8Array): SecondRegistration {
  const bytes = change(pairsOf(attestationNode(base.parts)));
  return { ...sentRegistration(base, base.parts), attestationObject: base64url(bytes) };
}

function withStatement(base: RegistrationBase, change: (pairs: Pairs) => CborNode): SecondRegistration {
  const { statement } = base.parts;
  return sentRegistration(base, { ...base.parts, statement: (...over) => change(pairsOf(statement(...over))) });
}

/** Changes the signature of a self-attestation; others stay as they are. */
function withSelfSignature(base: RegistrationBase, change: (signature: Uint8Array) => Uint8Array): SecondRegistration {
  return withStatement(base, (pairs) => {
    const isSelf = base.parts.format === "packed" && !pairs.some(([key]) => key === "x5c");
    return {
      pairs: pairs.map(([key, value]) => [key, isSelf && key === "sig" ? change(value as Uint8Array) : value]),
    };
  });
}

function withKey(base: RegistrationBase, random: Random, coseKey: Uint8Array): SecondRegistration {
  const { authenticator } = base.parts;
  const head = authenticator.attested.subarray(0, 18 + base.passkey.credentialId.length);
  const attested = Uint8Array.of(...head, ...coseKey);
  return withParts(base, random, { authenticator: { ...authenticator, attested } });
}

const nested = (levels: number): CborNode => (levels === 0 ? 0 : [nested(levels - 1)]);

const registrationMutators: Record<string, RegistrationMutator> = {
  untouched: (base) => sentRegistration(base, base.parts),
  "object: a bit": (base, random) => withObject(base, (pairs) => bitFlipped(writeCbor({ pairs }), random)),
  "object: bytes": (base, random) => withObject(base, (pairs) => bytesChanged(writeCbor({ pairs }), random)),
  "object: written otherwise": (base, random) => withObject(base, (pairs) => rewritten({ pairs }, random)),
  "object: other order": (base, random) => withObject(base, (pairs) => writeCbor({ pairs: shuffled(pairs, random) })),
  "object: a key twice": (base, random) =>
    withObject(base, (pairs) => {
      const [key, value] = random.pick(pairs);
      return writeCbor({
        pairs: pairs.toSpliced(random.below(4), 0, [key, random.pick([value, "none", { pairs: [] }])]),
      });
    }),
  "object: a key more": (base, random) =>
    withObject(base, (pairs) =>
      writeCbor({
        pairs: [
          ...pairs,
          random.pick([
            ["more", nested(1 + random.below(9))],
            [1, "none"],
            [null, 0],
          ] as const),
        ],
      }),
    ),
  "object: a key less": (base, random) =>
    withObject(base, (pairs) => writeCbor({ pairs: pairs.toSpliced(random.below(3), 1) })),
  format: (base, random) =>
    withParts(base, random, {
      format: random.pick(["none", "packed", "fido-u2f", "tpm", "apple", "compound", "", "NONE"]),
    }),
  "statement: a value": (base, random) =>
    withStatement(base, (pairs) => ({
      pairs: pairs.map(([key, value]) => [
        key,
        random.below(2) === 0
          ? value
          : value instanceof Uint8Array
            ? bitFlipped(value, random)
            : random.pick([-7, -257, "", []]),
      ]),
    })),
  "statement: a key more": (base, random) =>
    withStatement(base, (pairs) => ({
      pairs: [
        ...pairs,
        random.pick([
          ["x5c", []],
          ["alg", -7],
          ["ver", "2.0"],
        ] as const),
      ],
    })),
  "statement: a key less": (base, random) =>
    withStatement(base, (pairs) => ({ pairs: pairs.toSpliced(random.below(pairs.length || 1), 1) })),
  "statement: nested": (base, random) =>
    withStatement(base, (pairs) => ({ pairs: [...pairs, ["deep", nested(4 + random.below(5))]] })),
  "statement: signature forms": (base, random) =>
    withSelfSignature(base, (signature) => signatureForm(base.passkey, signature, random)),
  "statement: padded integers": (base) =>
    withSelfSignature(base, (signature) => paddedIntegers(base.passkey, signature)),
  key: (base, random) => withKey(base, random, bentCoseKey(base.passkey, random)),
  "key: RSA numbers": (_base, random, bases) => {
    const base = random.pick(bases.filter(({ passkey }) => passkey.algorithm === "RS256"));
    return withKey(base, random, bentRsaKey(base.passkey, random));
  },
  "credential: bytes": (base, random) => {
    const { authenticator } = base.parts;
    const change = random.pick([bitFlipped, bytesChanged]);
    return withParts(base, random, {
      authenticator: { ...authenticator, attested: change(authenticator.attested, random) },
    });
  },
  "id: length": (base, random) => {
    const { authenticator } = base.parts;
    const attested = authenticator.attested.slice();
    new DataView(attested.buffer).setUint16(
      16,
      random.pick([0, 1, base.passkey.credentialId.length + 1, 1023, 1024, 65535]),
    );
    return withParts(base, random, { authenticator: { ...authenticator, attested } });
  },
  "client data: a bit": (base, random) =>
    withParts(base, random, { clientDataJson: bitFlipped(base.parts.clientDataJson, random) }),
  challenge: (base, random) => {
    const { challenge, ...rest } = sentRegistration(base, base.parts);
    const other = random.pick([`${challenge}=`, `${challenge}==`, challenge.slice(1), "", challenge.toLowerCase()]);
    const plain = challenge.replaceAll("-", "+").replaceAll("_", "/");
    return { ...rest, challenge: random.pick([other, plain]) };
  },
  "id: text": (base, random) => {
    const { credentialId } = base.passkey;
    const bytes = random.pick([
      credentialId,
      writeCbor(credentialId),
      writeCbor(writeCbor(credentialId)),
      writeCbor(credentialId, { at: 0, how: random.pick(["long", "open", "tagged"]) }),
      bitFlipped(credentialId, random),
      bytesChanged(writeCbor(credentialId), random),
    ]);
    return { ...sentRegistration(base, base.parts), credentialId: spelled(bytes, random) };
  },
  "texts: spelling": (base, random) => {
    const sent = sentRegistration(base, base.parts);
    const name = random.pick(["clientDataJson", "attestationObject"] as const);
    return { ...sent, [name]: spelled(Buffer.from(sent[name], "base64url"), random) };
  },
  "list of origins": (base, random) => ({
    ...sentRegistration(base, base.parts),
    allowedOrigins: random.pick([
      undefined,
      [],
      ["https://evil.org"],
      ["https://example.com", "https://login.example.com"],
    ]),
  }),
  "another's part": (base, random, bases) => {
    const other = random.pick(bases);
    const [own, strange] = [sentRegistration(base, base.parts), sentRegistration(other, other.parts)];
    const name = random.pick(["challenge", "credentialId", "clientDataJson", "attestationObject"] as const);
    return { ...own, [name]: strange[name] };
  },
};

for (const [name, bend] of Object.entries(clientDataBends)) {
  registrationMutators[`client data: ${name}`] = (base, random) => {
    const bent = bend(clientFields(base.parts.clientDataJson), random);
    return withParts(base, random, { clientDataJson: new Uint8Array(Buffer.from(bent)) });
  };
}
for (const [name, bend] of Object.entries(authenticatorBends)) {
  registrationMutators[`authenticator: ${name}`] = (base, random) =>
    withParts(base, random, { authenticator: bend(base.parts.authenticator, base.passkey, random) });
}

export { registrationMutators };

export type StampCase = Omit<SecondStamp, "publicKey" | "rpIdHash"> & { by: AssertionBase; rpIdHash?: Uint8Array };

type StampMutator = (base: AssertionBase, random: Random, bases: readonly AssertionBase[]) => StampCase;
type Fields = Record<"authenticatorData" | "clientDataJson" | "credentialId" | "signature", Uint8Array>;

function fieldsOf({ passkey }: AssertionBase, parts: AssertionParts): Fields {
  const authData = authenticatorData(parts.authenticator);
  return {
    authenticatorData: authData,
    clientDataJson: parts.clientDataJson,
    credentialId: passkey.credentialId,
    signature: signed(passkey, authData, parts.clientDataJson),
  };
}

function headerOf(fields: Fields, spell: (bytes: Uint8Array) => string = base64url): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).map(([name, bytes]) => [name, spell(bytes)])));
}

function stamp(base: AssertionBase, header: string): StampCase {
  return { header, body: base.body, allowedOrigins: base.allowedOrigins, by: base };
}

/** The parts changed and, mostly, signed again; else the signature is the one over the unchanged parts. */
function restamped(base: AssertionBase, random: Random, changes: Partial<AssertionParts>): StampCase {
  const fields = fieldsOf(base, { ...base.parts, ...changes });
  if (random.below(5) === 0) fields.signature = fieldsOf(base, base.parts).signature;
  return stamp(base, headerOf(fields));
}

/** Bytes changed and nothing signed again. */
function withField(base: AssertionBase, name: keyof Fields, change: (bytes: Uint8Array) => Uint8Array): StampCase {
  const fields = fieldsOf(base, base.parts);
  return stamp(base, headerOf({ ...fields, [name]: change(fields[name]) }));
}

/** Whether a way of bending client data says something about a header, too: it has other keys, and no bytes beyond text. */
function isOfAnyDocument(name: string): boolean {
  return !/^another |UTF-8$/.test(name);
}

const stampMutators: Record<string, StampMutator> = {
  untouched: (base) => stamp(base, headerOf(fieldsOf(base, base.parts))),
  "signature forms": (base, random) =>
    withField(base, "signature", (bytes) => signatureForm(base.passkey, bytes, random)),
  "signature: padded integers": (base) => withField(base, "signature", (bytes) => paddedIntegers(base.passkey, bytes)),
  "client data: a bit, signed": (base, random) =>
    restamped(base, random, { clientDataJson: bitFlipped(base.parts.clientDataJson, random) }),
  "header: a bit": (base, random) => {
    const header = bitFlipped(Buffer.from(headerOf(fieldsOf(base, base.parts))), random);
    return stamp(base, Buffer.from(header).toString("latin1"));
  },
  "header: bytes": (base, random) => {
    const header = bytesChanged(Buffer.from(headerOf(fieldsOf(base, base.parts))), random);
    return stamp(base, Buffer.from(header).toString("latin1"));
  },
  "header: spelling": (base, random) =>
    stamp(
      base,
      headerOf(fieldsOf(base, base.parts), (bytes) =>
        random.below(3) === 0 ? spelled(bytes, random) : base64url(bytes),
      ),
    ),
  "another body": (base, random) => ({
    ...stamp(base, headerOf(fieldsOf(base, base.parts))),
    body: random.pick([bitFlipped, bytesChanged])(base.body, random),
  }),
  "another's passkey": (base, random, bases) => ({
    ...stamp(base, headerOf(fieldsOf(base, base.parts))),
    by: random.pick(bases),
  }),
  "another's field": (base, random, bases) => {
    const other = random.pick(bases);
    const name = random.pick(["authenticatorData", "clientDataJson", "credentialId", "signature"] as const);
    return withField(base, name, () => fieldsOf(other, other.parts)[name]);
  },
  "registered domain": (base, random) => ({
    ...stamp(base, headerOf(fieldsOf(base, base.parts))),
    rpIdHash: bitFlipped(base.parts.authenticator.rpIdHash, random),
  }),
  "list of origins": (base, random) => ({
    ...stamp(base, headerOf(fieldsOf(base, base.parts))),
    allowedOrigins: random.pick([
      undefined,
      [],
      ["https://evil.org"],
      ["https://example.com", "https://login.example.com"],
    ]),
  }),
};

for (const name of ["authenticatorData", "clientDataJson", "credentialId", "signature"] as const) {
  stampMutators[`${name}: a bit`] = (base, random) => withField(base, name, (bytes) => bitFlipped(bytes, random));
  stampMutators[`${name}: bytes`] = (base, random) => withField(base, name, (bytes) => bytesChanged(bytes, random));
}
for (const [name, bend] of Object.entries(clientDataBends)) {
  stampMutators[`client data: ${name}`] = (base, random) => {
    const bent = bend(clientFields(base.parts.clientDataJson), random);
    return restamped(base, random, { clientDataJson: new Uint8Array(Buffer.from(bent)) });
  };
  if (!isOfAnyDocument(name)) continue;
  stampMutators[`header: ${name}`] = (base, random) => {
    const header = bend(clientFields(Buffer.from(headerOf(fieldsOf(base, base.parts)))), random);
    return stamp(base, Buffer.from(header).toString("utf8"));
  };
}
for (const [name, bend] of Object.entries(authenticatorBends)) {
  stampMutators[`authenticator: ${name}`] = (base, random) =>
    restamped(base, random, { authenticator: bend(base.parts.authenticator, base.passkey, random) });
}

export { stampMutators };

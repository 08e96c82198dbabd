/** Valid registrations and assertions of many kinds, from which mutants are made. All but the RSA keys follow from the seed. */
import type { KeyObject } from "node:crypto";
import { type Random, seededRandom } from "../seeded_random.ts";
import {
  type AssertionParts,
  assertionParts,
  attestedData,
  base64url,
  clientDataJson,
  es256Passkey,
  flags,
  type RegistrationParts,
  registrationParts,
  rs256Passkey,
  rsaKeyPair,
  selfAttested,
  sha256,
  type TestPasskey,
} from "./authenticator.ts";
import { writeCbor } from "./cbor_writer.ts";

export type RegistrationBase = {
  passkey: TestPasskey;
  parts: RegistrationParts;
  allowedOrigins: readonly string[] | undefined;
};

export type AssertionBase = {
  passkey: TestPasskey;
  body: Uint8Array;
  parts: AssertionParts;
  allowedOrigins: readonly string[] | undefined;
};

export function randomBytes(random: Random, length: number): Uint8Array {
  return new Uint8Array(length).map(() => random.below(256));
}

/** Domain, origin and list that go together. */
const places: readonly [rpId: string, origin: string, allowedOrigins?: readonly string[]][] = [
  ["example.com", "https://example.com"],
  ["example.com", "https://login.example.com"],
  ["app.example.co.uk", "https://app.example.co.uk:8443"],
  ["localhost", "http://localhost:3000"],
  ["xn--bcher-kva.example", "https://xn--bcher-kva.example"],
  ["example.com", "https://wallet.example", ["https://wallet.example", "https://example.com"]],
  ["example.com", "android:apk-key-hash:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"],
];

function makePasskey(random: Random, rpId: string, rsaKeys: readonly KeyObject[]): TestPasskey {
  const credentialId = randomBytes(random, random.pick([1, 16, 20, 32, 64, 255, 300]));
  if (random.below(4) === 0) return rs256Passkey(random.pick(rsaKeys), rpId, credentialId);
  const secret = randomBytes(random, 32);
  secret[0] = 1; // Below the order of the curve.
  return es256Passkey(secret, rpId, credentialId);
}

const honestFlags = [flags.up, flags.up | flags.uv, flags.up | flags.be, flags.up | flags.uv | flags.be | flags.bs];
const extensionMaps = [
  writeCbor({ pairs: [["credProtect", 2]] }),
  writeCbor({
    pairs: [
      ["hmac-secret", true],
      ["uvm", [[1, 2, 3]]],
      ["credBlob", new Uint8Array(32)],
    ],
  }),
];

/** Flags, counter and sometimes extensions. */
function spoken(random: Random, attested: Uint8Array) {
  const extensions = random.below(4) === 0 ? random.pick(extensionMaps) : new Uint8Array();
  const announced = (attested.length > 0 ? flags.at : 0) | (extensions.length > 0 ? flags.ed : 0);
  const counter = random.pick([0, 0, 1, 77, 0xffffffff]);
  return { flags: random.pick(honestFlags) | announced, counter, attested, extensions };
}

const vendorStatements = ["packed", "fido-u2f", "apple", "android-key", "android-safetynet", "tpm"] as const;

function makeRegistration(random: Random, rsaKeys: readonly KeyObject[]): RegistrationBase {
  const [rpId, origin, allowedOrigins] = random.pick(places);
  const passkey = makePasskey(random, rpId, rsaKeys);
  const plain = registrationParts(passkey, origin);
  const attested = attestedData(passkey, randomBytes(random, 16));
  const parts = { ...plain, authenticator: { ...plain.authenticator, ...spoken(random, attested) } };
  const kind = random.below(3);
  if (kind === 0) return { passkey, parts, allowedOrigins };
  if (kind === 1) return { passkey, parts: selfAttested(passkey, parts), allowedOrigins };
  const certificate = randomBytes(random, 200);
  const statement = () => ({
    pairs: [
      ["alg", -7],
      ["sig", certificate.subarray(70)],
      ["x5c", [certificate]],
    ] as const,
  });
  return { passkey, parts: { ...parts, format: random.pick(vendorStatements), statement }, allowedOrigins };
}

function makeAssertion(random: Random, rsaKeys: readonly KeyObject[]): AssertionBase {
  const [rpId, origin, allowedOrigins] = random.pick(places);
  const passkey = makePasskey(random, rpId, rsaKeys);
  const body = randomBytes(random, 40);
  const challenge = base64url(sha256(body).toHex());
  const plain = assertionParts(passkey, challenge, origin);
  const frame = allowedOrigins === undefined ? {} : { topOrigin: random.pick(allowedOrigins) };
  const more = random.pick([{}, { crossOrigin: true, ...frame }, { other_keys_can_be_added_here: "do not compare" }]);
  return {
    ...{ passkey, body, allowedOrigins },
    parts: {
      clientDataJson: clientDataJson("webauthn.get", challenge, origin, more),
      authenticator: { ...plain.authenticator, ...spoken(random, new Uint8Array()) },
    },
  };
}

/** So many of each. */
export function makeBases(
  seed: number,
  count: number,
): { registrations: RegistrationBase[]; assertions: AssertionBase[] } {
  const random = seededRandom(seed);
  const rsaKeys = [rsaKeyPair(2048), rsaKeyPair(2048), rsaKeyPair(3072)];
  return {
    registrations: Array.from({ length: count }, () => makeRegistration(random, rsaKeys)),
    assertions: Array.from({ length: count }, () => makeAssertion(random, rsaKeys)),
  };
}

/**
 * Generated registrations and assertions, judged by us and by `@simplewebauthn/server`: the same verdict, but for the
 * differences listed here. A difference that is not listed fails, and so does, in a full run, a row that nothing falls under.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { isFull, samples } from "../../test/samples.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { makeBases, type RegistrationBase } from "../../test/webauthn/bases.ts";
import { type CborNode, writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { registrationMutators, type StampCase, stampMutators } from "../../test/webauthn/mutants.ts";
import type { SecondRegistration } from "../../test/webauthn/second_reading.ts";
import { fromCbor } from "../encoding/cbor.ts";
import { parseStrictEcdsaDer } from "../encoding/der.ts";
import { Fault } from "../fault.ts";
import { parseAttestationObject } from "./attestation_object.ts";
import { readCoseKey } from "./cose_key.ts";
import { verifyAssertion } from "./verify_assertion.ts";
import { verifyRegistration } from "./verify_registration.ts";
import { parseWebauthnStamp, stampChallenge } from "./webauthn_stamp.ts";

/** Why something is refused; undefined when it is accepted. */
type Refusal = string | undefined;

/** What was said, and what a row may ask about the case. */
type Case = {
  ours: Refusal;
  theirs: Refusal;
  /** The one that decided, where there is one. */
  signature?: Uint8Array | undefined;
  /** A vendor vouches for the key. */
  isVendors?: boolean;
  /** A text is spelled in plain base64. */
  isPlain?: boolean;
};

/** A rare one depends on the digits of RSA keys, which are new in each run: it may not occur. */
type Difference = { says: RegExp; reason: string; when?(one: Case): boolean; isRare?: true };

/** By what we say. */
const onlyWeRefuse: readonly Difference[] = [
  {
    says: /^malformed client data: duplicate key/,
    reason: "JSON.parse keeps the last of two equal keys; other readers keep the first",
  },
  {
    says: /^malformed client data: (an escape inside an object key|the key `__proto__`)/,
    reason: "no browser writes such keys, and JavaScript engines have read them wrongly",
  },
  {
    says: /^malformed client data: (not UTF-8|starts with a byte order mark|a lone surrogate|a NUL character)/,
    reason: "their decoder repairs or drops what is not text",
  },
  {
    says: /^malformed client data: (an integer beyond|a number too large|longer than|more than|nested deeper)/,
    reason: "we bound what a stranger can make us read",
  },
  {
    says: /^malformed CBOR: (longer than it needs|a length that is left open|a tag|a float|a simple|text that is not|a key)/,
    reason: "their CBOR reader takes values that are written otherwise, and more types",
  },
  { says: /^malformed CBOR: nested deeper than 8/, reason: "their CBOR reader has no bound of depth" },
  {
    says: /^malformed CBOR: (too short|trailing bytes)/,
    reason: "their CBOR reader takes a string that is cut off at the end, and does not look behind the end",
  },
  { says: /^malformed authenticator data: extensions that are not a map/, reason: "they do not look at extensions" },
  { says: /^malformed base64url/, reason: "their decoder passes over padding and characters that do not belong" },
  {
    says: /^malformed public key/,
    reason: "without self-attestation they keep a key unread until it is used; limits of RSA keys are ours",
  },
  {
    says: /^the credential id differs/,
    reason: "they take the id from the authenticator data and compare it with nothing",
  },
  {
    says: /^the self-attestation names another algorithm/,
    reason: "they verify with the statement's algorithm, without comparing it with the key's",
  },
  {
    says: /^the (signature|self-attestation) does not verify/,
    reason: "their ASN.1 reader takes BER and bytes behind the end; ours takes strict DER",
    when: ({ signature }) => signature !== undefined && !isStrictDer(signature),
  },
  { says: /^a new credential in an assertion/, reason: "the standard forbids it (section 6.1); they let it pass" },
  {
    says: /^the origin `[^`]*` is outside the passkey's domain/,
    reason: "without a list we tie the origin to the passkey's domain; they are told the origin",
  },
  {
    says: /^the page is in a frame/,
    reason: "with a list we want to know the page around a frame; they pass over a frame without topOrigin",
    isRare: true,
  },
];

/** By what they say. */
const onlyTheyRefuse: readonly Difference[] = [
  {
    says: /response challenge "/,
    reason: "we take padded and plain base64 in a challenge, because clients outside browsers send both",
  },
  { says: /response origin "/, reason: "without a list we take every host of the passkey's domain, and Android apps" },
  {
    says: /^UnexpectedRPIDHash/,
    reason: "they are told the domain; at registration we learn it, with a list or from Android",
  },
  {
    says: /tokenBinding|TokenBinding|top origin/,
    reason: "we ignore tokenBinding, and crossOrigin and topOrigin where there is no list; they are told no top origin",
  },
  {
    says: /./,
    reason: "we take plain base64 beside base64url, because published clients send both",
    when: ({ isPlain }) => isPlain === true,
    isRare: true,
  },
  {
    says: /./,
    reason: "they verify vendors' statements, which prove nothing to us",
    when: ({ isVendors }) => isVendors === true,
  },
];

function isStrictDer(signature: Uint8Array): boolean {
  try {
    parseStrictEcdsaDer(signature);
    return true;
  } catch {
    return false;
  }
}

const seed = 30;
const { registrations, assertions } = makeBases(seed, samples.webauthnBases);

function ourRefusal(verify: () => Refusal): Refusal {
  try {
    return verify();
  } catch (error) {
    assert.ok(error instanceof Fault, `${error}`);
    const said = error.code === "unauthenticated" ? error.detail : error.message;
    return said?.replace("invalid authenticator attestation: ", "");
  }
}

async function theirRefusal(verify: () => Promise<{ verified: boolean }>): Promise<Refusal> {
  try {
    return (await verify()).verified ? undefined : "not verified";
  } catch (error) {
    assert.ok(error instanceof Error, `${error}`);
    return `${error.name}: ${error.message}`;
  }
}

/** The origin that a base was made with. */
function originOf({ clientDataJson }: { clientDataJson: Uint8Array }): string {
  return (JSON.parse(Buffer.from(clientDataJson).toString()) as { origin: string }).origin;
}

function registerHere({ challenge, allowedOrigins, ...texts }: SecondRegistration): Refusal {
  return ourRefusal(() => {
    const sent = { challenge, attestation: { ...texts, transports: [] } };
    verifyRegistration(nodeCurves, sent, { allowedOrigins });
    return undefined;
  });
}

function registerThere({ passkey, parts }: RegistrationBase, sent: SecondRegistration): Promise<Refusal> {
  const { credentialId: id, clientDataJson: clientDataJSON, attestationObject, allowedOrigins, challenge } = sent;
  return theirRefusal(() =>
    verifyRegistrationResponse({
      response: {
        ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: [...(allowedOrigins ?? [originOf(parts)])],
      expectedRPID: passkey.rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: [-7, -257],
    }),
  );
}

function assertHere({ header, body, allowedOrigins, by }: StampCase): Refusal {
  return ourRefusal(() => {
    const coseKey = fromCbor(writeCbor({ pairs: by.passkey.coseKey }));
    const { publicKey } = readCoseKey(nodeCurves, coseKey);
    const { rpIdHash } = by.parts.authenticator;
    const challenge = stampChallenge(nodeCurves.sha256(body));
    const expected = { challenge, publicKey, rpIdHash, allowedOrigins };
    const verdict = verifyAssertion(nodeCurves, parseWebauthnStamp(header), expected);
    return verdict.verified ? undefined : verdict.why;
  });
}

function assertThere({ header, body, allowedOrigins, by }: StampCase): Promise<Refusal> {
  const fields = JSON.parse(header) as Record<string, string>;
  const { authenticatorData = "", clientDataJson: clientDataJSON = "", credentialId: id = "", signature = "" } = fields;
  return theirRefusal(() =>
    verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
        response: { authenticatorData, clientDataJSON, signature },
      },
      expectedChallenge: stampChallenge(nodeCurves.sha256(body)),
      expectedOrigin: [...(allowedOrigins ?? [originOf(by.parts)])],
      expectedRPID: by.passkey.rpId,
      credential: { id, publicKey: writeCbor({ pairs: by.passkey.coseKey }), counter: 0 },
      requireUserVerification: false,
    }),
  );
}

type Tally = { same: number; listed: Map<Difference, number> };

function note(tally: Tally, one: Case, what: () => string): void {
  const { ours, theirs } = one;
  if ((ours === undefined) === (theirs === undefined)) {
    tally.same++;
    return;
  }
  const [rows, said] = ours === undefined ? [onlyTheyRefuse, theirs ?? ""] : [onlyWeRefuse, ours];
  const row = rows.find(({ says, when }) => says.test(said) && (when === undefined || when(one)));
  assert.ok(row, `not listed: ${what()}: we say ${ours ?? "yes"}, they say ${theirs ?? "yes"}`);
  tally.listed.set(row, (tally.listed.get(row) ?? 0) + 1);
}

const tally: Tally = { same: 0, listed: new Map() };

/** A statement of a vendor is no comparison: they verify its certificates, and ours are made up. Some mutants name one all the same. */
const comparable = registrations.filter(({ parts }) => isSelf(parts));

function isSelf({ format, statement }: RegistrationBase["parts"]): boolean {
  const { pairs } = statement(new Uint8Array(), new Uint8Array()) as {
    pairs: readonly (readonly [CborNode, CborNode])[];
  };
  return format === "none" || (format === "packed" && !pairs.some(([key]) => key === "x5c"));
}

/** What decided about a registration that we could read. */
function decisive({ attestationObject }: SecondRegistration): Pick<Case, "signature" | "isVendors"> {
  try {
    const { format, statement } = parseAttestationObject(Buffer.from(attestationObject, "base64url"));
    const signature = statement.get("sig");
    const isVendors = format !== "none" && (format !== "packed" || statement.has("x5c"));
    return { isVendors, signature: signature instanceof Uint8Array ? signature : undefined };
  } catch {
    return {};
  }
}

test("registrations: the same verdict as @simplewebauthn/server, or a listed difference", async () => {
  const random = seededRandom(seed + 1);
  const names = Object.keys(registrationMutators);
  const withRsa = comparable.filter(({ passkey }) => passkey.algorithm === "RS256");
  for (let i = 0; i < samples.webauthnComparisons / 2; i++) {
    const name = names[i % names.length] as string;
    const base = random.pick(name.startsWith("key: RSA") ? withRsa : comparable);
    // Only the base's own domain is told to them.
    const others = name.startsWith("key: RSA") ? [base] : comparable;
    const sent = registrationMutators[name]?.(base, random, others) as SecondRegistration;
    const verdicts = { ours: registerHere(sent), theirs: await registerThere(base, sent) };
    const isPlain = /[+/]/.test(sent.clientDataJson + sent.attestationObject);
    note(tally, { ...verdicts, ...decisive(sent), isPlain }, () => `${name}, the ${i}th: ${JSON.stringify(sent)}`);
  }
});

test("assertions: the same verdict as @simplewebauthn/server, or a listed difference", async () => {
  const random = seededRandom(seed + 2);
  // They read no header, and are told the domain itself, not its hash.
  const names = Object.keys(stampMutators).filter((name) => !/^header:|^registered domain/.test(name));
  for (let i = 0; i < samples.webauthnComparisons / 2; i++) {
    const name = names[i % names.length] as string;
    const mutant = stampMutators[name]?.(random.pick(assertions), random, assertions) as StampCase;
    const { signature = "" } = JSON.parse(mutant.header) as Partial<Record<string, string>>;
    const verdicts = { ours: assertHere(mutant), theirs: await assertThere(mutant) };
    const one = { ...verdicts, signature: Buffer.from(signature, "base64url") };
    note(tally, one, () => `${name}, the ${i}th: ${mutant.header}`);
  }
});

test("the list of differences says what was found, and in a full run nothing else", (t) => {
  const rows = [
    ...onlyWeRefuse.map((row) => ({ ...row, who: "only we refuse", count: tally.listed.get(row) ?? 0 })),
    ...onlyTheyRefuse.map((row) => ({ ...row, who: "only they refuse", count: tally.listed.get(row) ?? 0 })),
  ];
  const different = rows.reduce((sum, { count }) => sum + count, 0);
  t.diagnostic(
    `${tally.same + different} cases: ${tally.same} times the same verdict, ${different} listed differences`,
  );
  for (const { who, count, reason } of rows) t.diagnostic(`${who}, ${count} times: ${reason}`);
  assert.equal(tally.same + different, 2 * Math.ceil(samples.webauthnComparisons / 2));
  assert.ok(tally.same > different, "most verdicts are the same");
  const idle = rows.filter(({ count, isRare }) => count === 0 && isRare !== true).map(({ reason }) => reason);
  if (isFull) assert.deepEqual(idle, [], "differences that do not occur");
});

/**
 * Mutants of valid registrations and stamps: ours and a second reading, which shares no code, give the same verdict and
 * the same values. So nothing is accepted whose bytes do not verify, and nothing is refused that honest clients may send.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { samples } from "../../test/samples.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { base64url } from "../../test/webauthn/authenticator.ts";
import { type AssertionBase, makeBases } from "../../test/webauthn/bases.ts";
import { writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { registrationMutators, stampMutators } from "../../test/webauthn/mutants.ts";
import { readRegistrationAgain, readStampAgain, type SecondRegistration } from "../../test/webauthn/second_reading.ts";
import { fromCbor } from "../encoding/cbor.ts";
import { toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { readCoseKey } from "./cose_key.ts";
import { verifyAssertion } from "./verify_assertion.ts";
import { verifyRegistration } from "./verify_registration.ts";
import { parseWebauthnStamp, stampChallenge } from "./webauthn_stamp.ts";

const seed = 20;
const { registrations, assertions } = makeBases(seed, samples.webauthnBases);

/** The verdict in the second reading's form; a refusal must be one of our own. */
function ours<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault && (error.code === "invalid_argument" || error.code === "unauthenticated"))
      return undefined;
    throw error;
  }
}

function register({ challenge, allowedOrigins, ...texts }: SecondRegistration) {
  return ours(() => {
    const sent = { challenge, attestation: { ...texts, transports: [] } };
    const { publicKey, rpIdHash, aaguid, transports, ...rest } = verifyRegistration(nodeCurves, sent, {
      allowedOrigins,
    });
    assert.deepEqual(transports, []);
    return { ...rest, publicKey: toHex(publicKey), rpIdHash: toHex(rpIdHash), aaguid: aaguid.replaceAll("-", "") };
  });
}

type Tally = Record<string, { accepted: number; refused: number }>;

function note(tally: Tally, name: string, isAccepted: boolean): void {
  tally[name] ??= { accepted: 0, refused: 0 };
  tally[name][isAccepted ? "accepted" : "refused"]++;
}

/** Says the totals, and that no way of bending was idle. */
function conclude(t: { diagnostic(text: string): void }, tally: Tally, what: string, names: readonly string[]): void {
  const rows = Object.values(tally);
  const sum = (kind: "accepted" | "refused") => rows.reduce((total, row) => total + row[kind], 0);
  const accepting = rows.filter(({ accepted }) => accepted > 0).length;
  t.diagnostic(
    `${sum("accepted") + sum("refused")} mutants of ${samples.webauthnBases} ${what} in ${names.length} ways: ` +
      `${sum("accepted")} verify in both readings (${accepting} ways), ${sum("refused")} in neither, 0 in one`,
  );
  assert.deepEqual(Object.keys(tally).sort(), names.toSorted(), "every way was tried");
  assert.ok(accepting > 10 && sum("refused") > sum("accepted"), JSON.stringify(tally));
  const untouched = tally.untouched;
  assert.ok(untouched !== undefined && untouched.accepted > 0 && untouched.refused === 0, JSON.stringify(untouched));
}

test("mutants of registrations: both readings agree, in verdict and in what is kept", (t) => {
  const random = seededRandom(seed + 1);
  const names = Object.keys(registrationMutators);
  const tally: Tally = {};
  for (let i = 0; i < samples.webauthnMutants / 2; i++) {
    const name = names[i % names.length] as string;
    const base = random.pick(registrations);
    const sent = registrationMutators[name]?.(base, random, registrations) as SecondRegistration;
    const verdict = register(sent);
    assert.deepEqual(
      verdict,
      readRegistrationAgain(sent),
      `${name}, the ${i}th of seed ${seed}: ${JSON.stringify(sent)}`,
    );
    note(tally, name, verdict !== undefined);
  }
  conclude(t, tally, "registrations", names);
});

function registered({ passkey, parts }: AssertionBase) {
  const { publicKey } = readCoseKey(nodeCurves, fromCbor(writeCbor({ pairs: passkey.coseKey })));
  return { publicKey, rpIdHash: parts.authenticator.rpIdHash };
}

test("mutants of stamps: both readings agree, in verdict and in what they say", (t) => {
  const random = seededRandom(seed + 2);
  const names = Object.keys(stampMutators);
  const tally: Tally = {};
  for (let i = 0; i < samples.webauthnMutants / 2; i++) {
    const name = names[i % names.length] as string;
    const mutant = stampMutators[name]?.(random.pick(assertions), random, assertions);
    assert.ok(mutant);
    const { header, body, allowedOrigins, by } = mutant;
    const key = { ...registered(by), ...(mutant.rpIdHash === undefined ? {} : { rpIdHash: mutant.rpIdHash }) };
    const verdict = ours(() => {
      const { credentialId, ...assertion } = parseWebauthnStamp(header);
      const challenge = stampChallenge(nodeCurves.sha256(body));
      const result = verifyAssertion(nodeCurves, assertion, { ...key, challenge, allowedOrigins });
      return result.verified ? { credentialId, userVerified: result.userVerified, counter: result.counter } : undefined;
    });
    const again = readStampAgain({ header, body, allowedOrigins, ...key });
    assert.deepEqual(verdict, again, `${name}, the ${i}th of seed ${seed}: ${header}`);
    // Nothing signs the id: it only says which passkey's key to verify with, so under another id nothing is found.
    note(tally, name, verdict !== undefined && verdict.credentialId === base64url(by.passkey.credentialId));
  }
  conclude(t, tally, "assertions", names);
});

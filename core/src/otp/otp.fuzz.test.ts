/**
 * Mutants of tokens, client signatures and attested stamps: ours and a second reading, which shares no code, give the same verdict. So
 * nothing is accepted whose bytes do not verify, and nothing is refused that honest clients may send.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { clientSignatureBase, p256Key, tokenBase } from "../../test/otp/bases.ts";
import { attestedMutators, clientSignatureMutators, tokenMutators } from "../../test/otp/mutants.ts";
import { readAttestedAgain, readClientSignatureAgain, readTokenAgain } from "../../test/otp/second_reading.ts";
import { samples } from "../../test/samples.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { fromHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { parseAttestedStamp, verifyAttestedStamp } from "./attested_stamp.ts";
import { checkClientSignature, type TokenUsage } from "./client_signature.ts";
import { parseVerificationToken, verifyVerificationToken } from "./verification_token.ts";

const seed = 22;
const otp = p256Key(seededRandom(seed));
const otpKey = fromHex(otp.publicKey);
const bases = 40;

/** What is read; a refusal must be one of our own. */
function ours<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault && (error.code === "invalid_argument" || error.code === "unauthenticated")) {
      return undefined;
    }
    throw error;
  }
}

type Tally = Map<string, { accepted: number; refused: number }>;

/** Runs each way in its turn, and says what came of it. */
function tryAll(
  t: TestContext,
  what: string,
  names: readonly string[],
  isAccepted: (name: string, round: string) => boolean,
): void {
  const tally: Tally = new Map(names.map((name) => [name, { accepted: 0, refused: 0 }]));
  for (let i = 0; i < samples.otpMutants; i++) {
    const name = names[i % names.length] as string;
    const row = tally.get(name);
    assert.ok(row);
    row[isAccepted(name, `${name}, the ${i}th of seed ${seed}`) ? "accepted" : "refused"]++;
  }
  const sum = (kind: "accepted" | "refused") => [...tally.values()].reduce((total, row) => total + row[kind], 0);
  const accepting = [...tally].filter(([, { accepted }]) => accepted > 0).map(([name]) => name);
  t.diagnostic(
    `${samples.otpMutants} mutants of ${what} in ${names.length} ways: ${sum("accepted")} verify in both readings ` +
      `(${accepting.length} ways), ${sum("refused")} in neither, 0 in one`,
  );
  assert.equal(tally.get("untouched")?.refused, 0);
  assert.ok(accepting.length > 2 && sum("refused") > sum("accepted"), accepting.join());
}

test("mutants of verification tokens: both readings agree, in verdict and in claims", (t) => {
  const random = seededRandom(seed + 1);
  const tokens = Array.from({ length: bases }, () => tokenBase(random, otp));
  tryAll(t, "verification tokens", Object.keys(tokenMutators), (name, round) => {
    const token = tokenMutators[name]?.(random.pick(tokens), random, otp, tokens) ?? "";
    const verdict = ours(() => {
      const { signed, signature, ...claims } = parseVerificationToken(token);
      return verifyVerificationToken(nodeCurves, otpKey, { ...claims, signed, signature }) ? claims : undefined;
    });
    assert.deepEqual(verdict, readTokenAgain(otp.publicKey, token), `${round}: ${token}`);
    return verdict !== undefined;
  });
});

function partOf(usage: TokenUsage): Parameters<typeof readClientSignatureAgain>[2] {
  if (usage.kind === "login") return { name: "login", content: { publicKey: usage.publicKey } };
  if (usage.kind === "contact") {
    return { name: "updateContact", content: { userId: usage.userId, contact: usage.contact } };
  }
  const { kind: _, form, ...content } = usage;
  return { name: form, content };
}

test("mutants of client signatures: both readings agree", (t) => {
  const random = seededRandom(seed + 2);
  const given = Array.from({ length: bases }, () => clientSignatureBase(random, otp));
  tryAll(t, "client signatures", Object.keys(clientSignatureMutators), (name, round) => {
    const mutant = clientSignatureMutators[name]?.(random.pick(given), random);
    assert.ok(mutant);
    const { sent, token, usage } = mutant;
    const verdict = ours(() => {
      checkClientSignature(nodeCurves, token, sent, usage);
      return true;
    });
    const again = readClientSignatureAgain(token, sent, partOf(usage));
    assert.equal(verdict === true, again, `${round}: ${JSON.stringify(mutant)}`);
    return again;
  });
});

test("mutants of attested stamps: both readings agree, in verdict and in key and token", (t) => {
  const random = seededRandom(seed + 3);
  const tokens = Array.from({ length: bases }, () => tokenBase(random, otp, true));
  tryAll(t, "attested stamps", Object.keys(attestedMutators), (name, round) => {
    const mutant = attestedMutators[name]?.(random.pick(tokens), random, otp, tokens);
    assert.ok(mutant);
    const verdict = ours(() => {
      const stamp = parseAttestedStamp(nodeCurves, mutant.header);
      if (!verifyAttestedStamp(nodeCurves, otpKey, stamp, mutant.body)) return undefined;
      return { publicKey: stamp.publicKey, tokenId: stamp.token.tokenId };
    });
    assert.deepEqual(
      verdict,
      readAttestedAgain(otp.publicKey, mutant.header, mutant.body),
      `${round}: ${mutant.header}`,
    );
    return verdict !== undefined;
  });
});

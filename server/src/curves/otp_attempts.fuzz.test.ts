/** Mutants of encrypted answers to codes: nothing opens here that the published client's own decryption does not read the same way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sealMessage } from "@keystead/core/crypto/hpke.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { openEncryptedAttempt } from "@keystead/core/otp/encrypted_attempt.ts";
import { p256 } from "@noble/curves/nist.js";
import { hpkeDecrypt } from "@turnkey/crypto";
import { p256Key } from "../../../core/test/otp/bases.ts";
import { samples } from "../../../core/test/samples.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import { isStrictJson } from "../../../core/test/webauthn/strict_json.ts";
import { nodeHpke } from "./node_hpke.ts";

const seed = 23;
const targets = Array.from({ length: 4 }, () => nodeHpke.generateKey());
const [target = nodeHpke.generateKey(), ...otherTargets] = targets;
const targetHex = toHex(nodeHpke.exportKey(target));

type Bundle = { encappedPublic: string; ciphertext: string };

function encrypted(plaintext: string, key = target): Bundle {
  const { enc, ciphertext } = sealMessage(nodeHpke, nodeHpke.publicKey(key), Buffer.from(plaintext));
  return { encappedPublic: toHex(enc), ciphertext: toHex(ciphertext) };
}

const attemptOf = (random: Random) => ({
  otp_code: random.pick(["000000", "0A1B9ZK8X"]),
  public_key: p256Key(random).publicKey,
});

function flipped(text: string, random: Random): string {
  const at = random.below(text.length);
  return `${text.slice(0, at)}${random.pick([...'0123456789abcdefABCDEF {}",:'])}${text.slice(at + 1)}`;
}

/** Another plaintext, encrypted as it should be. */
function saying(change: (attempt: ReturnType<typeof attemptOf>, random: Random) => unknown) {
  return (random: Random): string => {
    const said = change(attemptOf(random), random);
    return JSON.stringify(encrypted(typeof said === "string" ? said : JSON.stringify(said)));
  };
}

function sending(change: (bundle: Bundle, random: Random) => unknown) {
  return (random: Random): string => {
    const sent = change(encrypted(JSON.stringify(attemptOf(random))), random);
    return typeof sent === "string" ? sent : JSON.stringify(sent);
  };
}

const mutators: Readonly<Record<string, (random: Random) => string>> = {
  untouched: saying((attempt) => attempt),
  "another order": saying(({ otp_code, public_key }) => ({ public_key, otp_code })),
  blanks: saying((attempt) => JSON.stringify(attempt, null, 2)),
  "upper case": saying(({ otp_code, public_key }) => ({ otp_code, public_key: public_key.toUpperCase() })),
  "a character of the plaintext": saying((attempt, random) => flipped(JSON.stringify(attempt), random)),
  "another field": saying((attempt) => ({ ...attempt, more: "x" })),
  "a field less": saying((attempt, random) => {
    const { [random.pick(["otp_code", "public_key"] as const)]: _, ...rest } = attempt;
    return rest;
  }),
  "a field of another kind": saying((attempt, random) => ({
    ...attempt,
    [random.pick(["otp_code", "public_key"])]: random.pick([null, 0, [], {}, "", true]),
  })),
  "a field twice": saying((attempt) => `${JSON.stringify(attempt).slice(0, -1)},"otp_code":"000000"}`),
  "a key off the curve": saying((attempt, random) => ({
    ...attempt,
    public_key: random.pick(["02", "03"]) + random.pick(["ff", "00", "05"]).repeat(32),
  })),
  "a long key": saying(({ otp_code }, random) => ({ otp_code, public_key: p256Key(random).longPublicKey })),
  "no object": saying((attempt, random) => random.pick([[attempt], null, 1, "", "x"])),
  "a digit of the ciphertext": sending((bundle, random) => ({
    ...bundle,
    ciphertext: flipped(bundle.ciphertext, random),
  })),
  "a digit of the point": sending((bundle, random) => ({
    ...bundle,
    encappedPublic: flipped(bundle.encappedPublic, random),
  })),
  "a character anywhere": sending((bundle, random) => flipped(JSON.stringify(bundle), random)),
  "a cut ciphertext": sending((bundle, random) => ({
    ...bundle,
    ciphertext: bundle.ciphertext.slice(0, 2 * random.below(bundle.ciphertext.length / 2)),
  })),
  "upper-case digits": sending(({ encappedPublic, ciphertext }) => ({
    encappedPublic: encappedPublic.toUpperCase(),
    ciphertext: ciphertext.toUpperCase(),
  })),
  "a short point": sending(({ encappedPublic, ciphertext }) => ({
    encappedPublic: p256.Point.fromHex(encappedPublic).toHex(true),
    ciphertext,
  })),
  "another's point": sending(({ ciphertext }, random) => ({
    ...encrypted(JSON.stringify(attemptOf(random))),
    ciphertext,
  })),
  "for another code": (random) =>
    JSON.stringify(encrypted(JSON.stringify(attemptOf(random)), random.pick(otherTargets))),
  "more beside": sending((bundle) => ({ ...bundle, more: [1] })),
  "a part twice": sending((bundle) => `${JSON.stringify(bundle).slice(0, -1)},"ciphertext":"${bundle.ciphertext}"}`),
  "no bundle": (random) => random.pick(["", "{}", "null", "[]", '{"encappedPublic":1,"ciphertext":""}']),
};

/** The same question to the published client's decryption, JSON by its tokens and the curve by noble. */
function readAgain(sent: string): { code: string; publicKey: string } | undefined {
  const strict = (text: string | Uint8Array, max: number) => {
    const bytes = Buffer.from(text as string);
    if (bytes.length > max || !isStrictJson(bytes, Number.POSITIVE_INFINITY)) return undefined;
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  };
  const { encappedPublic, ciphertext } = strict(sent, 4_096) ?? {};
  if (typeof encappedPublic !== "string" || typeof ciphertext !== "string") return undefined;
  if (!/^04[0-9a-f]{128}$/i.test(encappedPublic) || !/^([0-9a-f]{2}){16,1024}$/i.test(ciphertext)) return undefined;
  let plaintext: Uint8Array;
  try {
    const encappedKeyBuf = Uint8Array.from(Buffer.from(encappedPublic, "hex"));
    const ciphertextBuf = Uint8Array.from(Buffer.from(ciphertext, "hex"));
    plaintext = hpkeDecrypt({ ciphertextBuf, encappedKeyBuf, receiverPriv: targetHex });
  } catch {
    return undefined;
  }
  const attempt = strict(plaintext, 1_024);
  if (attempt === undefined || Object.keys(attempt).sort().join() !== "otp_code,public_key") return undefined;
  const { otp_code: code, public_key: key } = attempt;
  if (typeof code !== "string" || typeof key !== "string" || key.length !== 66) return undefined;
  try {
    return { code, publicKey: p256.Point.fromHex(key).toHex(true) };
  } catch {
    return undefined;
  }
}

test("mutants of encrypted answers: both readings agree, in verdict and in what was said", (t) => {
  const random = seededRandom(seed);
  const names = Object.keys(mutators);
  const accepting = new Map<string, number>();
  for (let i = 0; i < samples.otpMutants; i++) {
    const name = names[i % names.length] as string;
    const sent = mutators[name]?.(random) ?? "";
    const attempt = openEncryptedAttempt(nodeHpke, target, sent);
    assert.deepEqual(attempt, readAgain(sent), `${name}, the ${i}th of seed ${seed}: ${sent}`);
    if (attempt !== undefined) accepting.set(name, (accepting.get(name) ?? 0) + 1);
  }
  const accepted = [...accepting.values()].reduce((sum, each) => sum + each, 0);
  t.diagnostic(
    `${samples.otpMutants} mutants of encrypted answers in ${names.length} ways: ${accepted} read alike by both ` +
      `(${accepting.size} ways), ${samples.otpMutants - accepted} by neither, 0 by one`,
  );
  assert.equal(accepting.get("untouched"), Math.ceil(samples.otpMutants / names.length));
  assert.ok(accepting.size > 3 && accepted < samples.otpMutants / 2);
});

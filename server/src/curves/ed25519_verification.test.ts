/**
 * One implementation verifies Ed25519, and it is OpenSSL with our own checks of A and R in front (decision 0037). The twelve
 * cases are those of the public "speccheck" set, built here from what each of them is about.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { nodeCurves } from "./node_curves.ts";

const { Point } = ed25519;
const order = Point.Fn.ORDER;
/** A point of order eight. */
const torsion = Point.fromHex(ED25519_TORSION_SUBGROUP[1] ?? "");
/** y = -1 and x = 0 with the sign of x set: a second spelling of the point of order two. */
const nonCanonical = Uint8Array.fromHex(`ec${"ff".repeat(31)}`);
const minusOne = Uint8Array.fromHex(`ec${"ff".repeat(30)}7f`);

/** A public key or a nonce: a multiple of the base point, moved by so many eighths of a turn. */
type Part = { scalar: bigint; eighths: bigint };

type Case = {
  key: Part;
  nonce: Part;
  /** Spellings to send in place of the canonical ones, and whether the challenge hashes them as sent. */
  sent?: { key?: Uint8Array; nonce?: Uint8Array; isHashed: boolean };
  /** S is raised by so many times the order. */
  raised?: bigint;
  /** Which challenges are taken: what they do to the torsion decides which equations hold. */
  challenge(k: bigint, key: Part, nonce: Part): boolean;
};

/** SB = R + kA holds, and so does eight times it. */
const bothHold: Case["challenge"] = (k, key, nonce) => (k * key.eighths + nonce.eighths) % 8n === 0n;
/** Only eight times it holds. */
const onlyCofactored: Case["challenge"] = (...args) => !bothHold(...args);

const small = (eighths: bigint): Part => ({ scalar: 0n, eighths });
const mixed = (scalar: bigint, eighths = 1n): Part => ({ scalar, eighths });
const honest = (scalar: bigint): Part => ({ scalar, eighths: 0n });

/** In the order of the set. `noble`: what its strictest mode says, which is why it verifies nothing here. */
const cases: readonly [what: string, one: Case, ours: boolean, noble: boolean][] = [
  ["0: S = 0, A and R of small order", { key: small(7n), nonce: small(1n), challenge: bothHold }, false, false],
  ["1: A of small order", { key: small(7n), nonce: mixed(9n), challenge: bothHold }, false, false],
  ["2: R of small order", { key: mixed(5n), nonce: small(1n), challenge: bothHold }, false, true],
  ["3: A and R of mixed order", { key: mixed(5n), nonce: mixed(9n), challenge: bothHold }, true, true],
  [
    "4: only the equation times eight holds",
    { key: mixed(5n), nonce: mixed(9n), challenge: onlyCofactored },
    false,
    true,
  ],
  [
    "5: likewise, and not when eight times the challenge is reduced",
    {
      key: mixed(5n),
      nonce: mixed(9n),
      challenge: (k, ...parts) => onlyCofactored(k, ...parts) && ((8n * k) % order) % 8n !== 0n,
    },
    false,
    true,
  ],
  ["6: S beyond the order", { key: honest(5n), nonce: honest(9n), raised: 1n, challenge: bothHold }, false, false],
  ["7: S far beyond the order", { key: honest(5n), nonce: honest(9n), raised: 7n, challenge: bothHold }, false, false],
  [
    "8: R in a second spelling, hashed in the first",
    { key: mixed(5n), nonce: small(4n), sent: { nonce: nonCanonical, isHashed: false }, challenge: bothHold },
    ...([false, false] as const),
  ],
  [
    "9: R in a second spelling, hashed as it is",
    { key: mixed(5n), nonce: small(4n), sent: { nonce: nonCanonical, isHashed: true }, challenge: bothHold },
    ...([false, false] as const),
  ],
  [
    "10: A in a second spelling, hashed in the first",
    { key: small(4n), nonce: mixed(9n, 4n), sent: { key: nonCanonical, isHashed: false }, challenge: bothHold },
    ...([false, false] as const),
  ],
  [
    "11: A in a second spelling, hashed as it is",
    { key: small(4n), nonce: mixed(9n, 4n), sent: { key: nonCanonical, isHashed: true }, challenge: bothHold },
    ...([false, false] as const),
  ],
];

function pointOf({ scalar, eighths }: Part): Uint8Array {
  return Point.BASE.multiplyUnsafe(scalar).add(torsion.multiplyUnsafe(eighths)).toBytes();
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toReversed().toHex()}`);
}

/** The first message whose challenge is one of those that the case takes, with its signature. */
function build({ key, nonce, sent, raised = 0n, challenge }: Case): [Uint8Array, Uint8Array, Uint8Array] {
  const [a, r] = [pointOf(key), pointOf(nonce)];
  if (sent !== undefined) assert.deepEqual(sent.key === undefined ? r : a, minusOne);
  const [sentA, sentR] = [sent?.key ?? a, sent?.nonce ?? r];
  const hashed = sent?.isHashed === false ? [r, a] : [sentR, sentA];
  for (let n = 0; n < 1_000; n++) {
    const message = Uint8Array.of(n >> 8, n & 0xff);
    const k = littleEndian(sha512(Buffer.concat([...hashed, message]))) % order;
    if (!challenge(k, key, nonce)) continue;
    const s = ((nonce.scalar + k * key.scalar) % order) + raised * order;
    const sBytes = Uint8Array.fromHex(s.toString(16).padStart(64, "0")).reverse();
    return [sentA, message, Buffer.concat([sentR, sBytes])];
  }
  throw new Error("no message has such a challenge");
}

for (const [what, one, ours, noble] of cases) {
  test(`Ed25519 speccheck ${what}: ${ours ? "accepted" : "refused"}`, () => {
    const [key, message, signature] = build(one);
    assert.equal(nodeCurves.verifyEd25519(key, message, signature), ours);
    assert.equal(ed25519.verify(signature, message, key, { zip215: false }), noble, "noble has changed its mind");
  });
}

test("the cases are what they claim to be: the most permissive reading takes every one that an equation holds for", () => {
  const taken = cases.map(([, one]) => {
    const [key, message, signature] = build(one);
    return ed25519.verify(signature, message, key, { zip215: true });
  });
  assert.deepEqual(taken, [true, true, true, true, true, true, false, false, false, true, true, true]);
});

const root = join(import.meta.dirname, "../../..");
const shipped = ["core", "server", "sdk", "cli"]
  .flatMap((name) => globSync(`${name}/src/**/*.ts`, { cwd: root }))
  .filter((file) => !/\.test(_entry)?\.ts$/.test(file));
const verifier = "server/src/curves/node_curves.ts";
/** RSA for identity tokens. Its Ed25519 is the verifier's own function. */
const tokenVerifier = "server/src/curves/node_token_crypto.ts";

/** P-384 alone, for attestation documents. */
const attestationVerifier = "server/src/curves/node_p384.ts";

function filesWith(pattern: RegExp): string[] {
  return shipped.filter((file) => pattern.test(readFileSync(join(root, file), "utf8")));
}

test("no shipped file but one verifies Ed25519, and none that loads noble's Ed25519 verifies anything", () => {
  assert.ok(shipped.length > 300, `only ${shipped.length} files were found`);
  assert.equal("verifyEd25519" in nobleCurves, false);
  assert.deepEqual(filesWith(/^\s*verifyEd25519(:\s(?!nodeCurves\.verifyEd25519,)|\([^)]*\)\s*\{)/m), [verifier]);
  const loadsNoble = filesWith(/@noble\/curves\/ed25519/);
  assert.ok(loadsNoble.length > 0, "the pattern finds nothing");
  assert.deepEqual(
    loadsNoble.filter((file) => filesWith(/\bverify\b/).includes(file)),
    [],
  );
});

test("no shipped file but three takes verification from node:crypto or WebCrypto", () => {
  const fromNode = /import\s*\{[^}]*\b(verify|createVerify|Verify|webcrypto|subtle)\b[^}]*\}\s*from\s*"node:crypto"/;
  assert.deepEqual(filesWith(fromNode), [verifier, attestationVerifier, tokenVerifier]);
  assert.deepEqual(filesWith(/import\s+(\*\s+as\s+)?\w+\s+from\s*"node:crypto"|\bsubtle\s*\.\s*verify\b/), []);
});

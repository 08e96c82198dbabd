/**
 * Known answers, asked for before the signer takes its first request: a broken library, a wrong build or a failing CPU would
 * otherwise sign with a nonce that gives the key away, or seal what nobody opens again. Answers are the standards' own.
 */
import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { nobleP384Signer } from "@keystead/core/attestation/noble_p384.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { nodeSigning } from "../curves/node_signing.ts";
import { seal, unseal } from "./secrets/seal.ts";

const zeros = new Uint8Array(32);
const sha256 = (text: string) => new Uint8Array(createHash("sha256").update(text).digest());
const small = (last: number) => Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? last : 0));

function aesGcm(): string {
  const cipher = createCipheriv("aes-256-gcm", zeros, zeros.subarray(0, 12));
  const sealed = cipher.update(zeros.subarray(0, 16));
  cipher.final();
  return toHex(sealed) + toHex(cipher.getAuthTag());
}

/** RFC 5869, first case. */
function hkdf(): string {
  const [key, salt, info] = ["0b".repeat(22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9"].map(fromHex);
  return toHex(new Uint8Array(hkdfSync("sha256", key ?? zeros, salt ?? zeros, info ?? zeros, 42)));
}

/** What is sealed opens again, and only where it belongs. */
function sealing(): string {
  const context = { purpose: "self-test", organizationId: "", recordId: "1" };
  const box = seal(small(1), 1, context, small(7));
  const opened = toHex(unseal(small(1), 1, context, box));
  try {
    unseal(small(1), 1, { ...context, recordId: "2" }, box);
    return "it opens elsewhere";
  } catch {
    return opened;
  }
}

export type KnownAnswer = { what: string; ask(): string; answer: string };

export const knownAnswers: readonly KnownAnswer[] = [
  {
    what: "SHA-256",
    ask: () => toHex(sha256("abc")),
    answer: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  },
  {
    // RFC 4231, second case.
    what: "HMAC-SHA-256",
    ask: () => createHmac("sha256", "Jefe").update("what do ya want for nothing?").digest("hex"),
    answer: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  },
  {
    what: "HKDF-SHA-256",
    ask: hkdf,
    answer: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
  },
  {
    what: "AES-256-GCM",
    ask: aesGcm,
    answer: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919",
  },
  { what: "sealing", ask: sealing, answer: toHex(small(7)) },
  {
    what: "ECDSA on secp256k1",
    ask: () => toHex(nodeSigning.ecdsa.CURVE_SECP256K1(small(1), sha256("Satoshi Nakamoto")).rs),
    answer:
      "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8" +
      "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5",
  },
  {
    // RFC 6979, A.2.5, with the lower s.
    what: "ECDSA on P-256",
    ask: () => {
      const key = fromHex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
      return toHex(nodeSigning.ecdsa.CURVE_P256(key, sha256("sample")).rs);
    },
    answer:
      "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716" +
      "0834e36ad29a83bf2bc9385e491d6099c8fdf9d1ed67aa7ea5f51f93782857a9",
  },
  {
    // RFC 6979, A.2.6. The certificate behind boot proofs is signed so; and by now it has run once, while the gateway still loads its code:
    // a start that first asks for it then would take twenty milliseconds longer.
    what: "ECDSA on P-384",
    ask: () => {
      const key =
        "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d8" + "96d5724e4c70a825f872c9ea60d2edf5";
      return toHex(nobleP384Signer(fromHex(key), zeros).sign(new TextEncoder().encode("sample")));
    },
    answer:
      "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c" +
      "81a648152e44acf96e36dd1e80fabe4699ef4aeb15f178cea1fe40db2603138f" +
      "130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8",
  },
  {
    // RFC 8032, first case.
    what: "Ed25519",
    ask: () => {
      const seed = fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
      return toHex(nodeSigning.ed25519(seed, new Uint8Array()));
    },
    answer:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155" +
      "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    // BIP-340, first case.
    what: "BIP-340",
    ask: () => toHex(nodeSigning.bip340(small(3), zeros, zeros)),
    answer:
      "e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca8215" +
      "25f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0",
  },
];

/** Throws for the first answer that is not the known one. */
export function selfTest(answers: readonly KnownAnswer[] = knownAnswers, random = randomBytes): void {
  const failed = answers.find(({ ask, answer }) => answerOf(ask) !== answer)?.what ?? (isStuck(random) && "randomness");
  if (failed)
    throw new Fault("internal", `it does not trust this machine's cryptography: ${failed} fails its self-test`);
}

function answerOf(ask: () => string): string | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** No test shows that numbers are random; this one finds a source that gives the same each time. */
function isStuck(random: (length: number) => Uint8Array): boolean {
  const drawn = Array.from({ length: 8 }, () => toHex(random(32)));
  return new Set(drawn).size < drawn.length;
}

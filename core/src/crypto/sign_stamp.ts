/** Makes `X-Stamp` headers, for the SDK and the CLI. The server never signs stamps. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { toBase64url } from "../encoding/base64url.ts";
import { toEcdsaDer } from "../encoding/der.ts";
import { toHex } from "../encoding/hex.ts";
import { nobleCurves } from "./noble_curves.ts";
import { eip191Digest, type StampScheme } from "./stamp.ts";

type Signer = {
  publicKey(privateKey: Uint8Array): Uint8Array;
  /** The signature as the scheme wants it on the wire. */
  sign(privateKey: Uint8Array, body: Uint8Array): Uint8Array;
};

type Ecdsa = typeof p256;

/** Deterministic (RFC 6979), and low s on both curves: every verifier takes that. */
function ecdsaSigner(curve: Ecdsa, digest: (body: Uint8Array) => Uint8Array): Signer {
  return {
    publicKey: (privateKey) => curve.getPublicKey(privateKey, true),
    sign: (privateKey, body) => toEcdsaDer(curve.sign(digest(body), privateKey, { prehash: false, lowS: true })),
  };
}

const signers = {
  SIGNATURE_SCHEME_TK_API_P256: ecdsaSigner(p256, sha256),
  SIGNATURE_SCHEME_TK_API_SECP256K1: ecdsaSigner(secp256k1, sha256),
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: ecdsaSigner(secp256k1, (body) => eip191Digest(nobleCurves, body)),
  SIGNATURE_SCHEME_TK_API_ED25519: {
    publicKey: (privateKey) => ed25519.getPublicKey(privateKey),
    sign: (privateKey, body) => ed25519.sign(body, privateKey),
  },
} as const satisfies Record<StampScheme, Signer>;

const utf8 = new TextEncoder();

/** Signs the exact bytes that will be sent as the body, and returns the header value. */
export function signStamp(privateKey: Uint8Array, scheme: StampScheme, body: Uint8Array): string {
  const signer: Signer = signers[scheme];
  const publicKey = toHex(signer.publicKey(privateKey));
  const signature = toHex(signer.sign(privateKey, body));
  return toBase64url(utf8.encode(JSON.stringify({ publicKey, scheme, signature })));
}

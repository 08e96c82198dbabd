/**
 * The P-384 key that vouches for boot proofs, and its certificate. Both derive from the keyring's secret, so that older keyrings have
 * them too, and each start and each host has the same ones.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { isP384PrivateKey, nobleP384Signer } from "@keystead/core/attestation/noble_p384.ts";
import type { P384Signer } from "@keystead/core/attestation/p384.ts";
import { writeRootCertificate } from "@keystead/core/attestation/software_certificates.ts";
import { encode, u32 } from "@keystead/core/encoding/layout.ts";
import { nodeP384Signer } from "../../curves/node_p384.ts";
import { createMac, deriveKey, sha256 } from "../../state/digest.ts";

export type AttestationRoot = {
  readonly signer: P384Signer;
  /** DER. */
  readonly certificate: Uint8Array;
};

const privateKeyLength = 48;

/** The certificate takes some twenty milliseconds, and few of those who open a keyring need it. */
export function createAttestationRoot(secret: Uint8Array, deploymentId: string): () => AttestationRoot {
  const mac = createMac(deriveKey(secret, "attestation-root"));
  let root: AttestationRoot | undefined;
  return () => {
    root ??= makeRoot(mac, deploymentId);
    return root;
  };
}

function makeRoot(mac: (content: Uint8Array) => Uint8Array, deploymentId: string): AttestationRoot {
  const scalar = firstPrivateKey(mac);
  try {
    const signer = nodeP384Signer(importKey(scalar));
    // Only this one signature has to be the same each time, and OpenSSL cannot make it so.
    const deterministic = nobleP384Signer(scalar, signer.publicKey);
    return { signer, certificate: writeRootCertificate({ sha256 }, deploymentId, deterministic) };
  } finally {
    scalar.fill(0);
  }
}

/** The first of a keyed sequence of numbers that is a private key. */
function firstPrivateKey(mac: (content: Uint8Array) => Uint8Array): Uint8Array {
  for (let block = 0; ; block += 2) {
    const scalar = new Uint8Array(privateKeyLength);
    const [high, low] = [mac(encode(u32, block)), mac(encode(u32, block + 1))];
    scalar.set(high);
    scalar.set(low.subarray(0, privateKeyLength - high.length), high.length);
    high.fill(0);
    low.fill(0);
    if (isP384PrivateKey(scalar)) return scalar;
  }
}

function importKey(scalar: Uint8Array): KeyObject {
  const key = Buffer.from(scalar.buffer, scalar.byteOffset, scalar.byteLength);
  return createPrivateKey({ key, format: "raw-private", asymmetricKeyType: "ec", namedCurve: "P-384" });
}

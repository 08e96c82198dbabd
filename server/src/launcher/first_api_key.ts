import { createECDH, ECDH } from "node:crypto";

export type ApiKeyPair = { apiPublicKey: string; apiPrivateKey: string };

/**
 * Makes the P-256 key of the first root user, in the hex forms that clients use. This private key is a string by nature:
 * it is about to be written into a JSON file for the operator. `init --root-public-key` avoids it.
 */
export function createApiKey(): ApiKeyPair {
  const pair = createECDH("prime256v1");
  const apiPublicKey = pair.generateKeys("hex", "compressed");
  // OpenSSL drops leading zero bytes of the scalar.
  return { apiPublicKey, apiPrivateKey: pair.getPrivateKey("hex").padStart(64, "0") };
}

/** The compressed form of a P-256 public key given in either form; undefined when it is not a point of the curve. */
export function parsePublicKey(hex: string): string | undefined {
  if (!/^(0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(hex)) return undefined;
  try {
    const key = ECDH.convertKey(hex, "prime256v1", "hex", "hex", "compressed");
    return typeof key === "string" ? key : undefined;
  } catch {
    return undefined;
  }
}

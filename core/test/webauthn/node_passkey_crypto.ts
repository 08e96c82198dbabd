/** OpenSSL for tests of passkeys. */
import { constants, createPublicKey, verify } from "node:crypto";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import type { Rs256 } from "../../src/crypto/rsa_public_key.ts";
import type { PasskeyCrypto } from "../../src/webauthn/passkey_signature.ts";

export const nodeRs256: Rs256 = {
  verifyRs256(publicKey, message, signature) {
    try {
      const key = createPublicKey({ key: Buffer.from(publicKey), format: "der", type: "spki" });
      if (key.asymmetricKeyType !== "rsa") return false;
      return verify("sha256", message, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
    } catch {
      return false;
    }
  },
};

export const nodePasskeyCrypto: PasskeyCrypto = { ...nodeCurves, ...nodeRs256 };

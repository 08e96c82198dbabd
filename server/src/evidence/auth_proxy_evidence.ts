/**
 * No stamp at all: the gateway wrote the body for somebody who came through the auth proxy. It names the proxy's configuration, and proves
 * nothing by itself. The signer lets through few types, as the parent's state allows them, and what they prove is in their parameters.
 */
import { authProxyScheme } from "@keystead/core/crypto/evidence.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { EvidenceRow } from "./evidence_row.ts";

export type SentAuthProxy = { configId: string };

const unknownCode = "AUTH_PROXY_NOT_FOUND";
const invalidCode = "SIGNATURE_INVALID";

export const authProxyEvidence: EvidenceRow<SentAuthProxy> = {
  header: undefined,
  schemes: [authProxyScheme],
  parse(_, configId) {
    try {
      return { configId: uuidFromBytes(uuidToBytes(configId)) };
    } catch (cause) {
      throw new Fault("unauthenticated", "malformed auth proxy config id", { errorCode: invalidCode, cause });
    }
  },
  lookup: ({ configId }) => ({ by: "authProxy", configId }),
  // Nothing is signed that could be verified.
  verify: () => false,
  needsOrigins: false,
  keep: (_curves, { configId }) => ({ kind: "authProxy", value: { configId: uuidToBytes(configId) } }),
  show: (configId) => ({ publicKey: "", signature: JSON.stringify({ configId }), scheme: authProxyScheme }),
  fromShown: ({ signature }) => (JSON.parse(signature) as SentAuthProxy).configId,
  unknownCode,
  invalidCode,
  unknown: unknownAuthProxy,
  expired: unknownAuthProxy,
  unverified: () =>
    new Fault("unauthenticated", "a request without a stamp opens nothing here", { errorCode: invalidCode }),
  ambiguous: unknownAuthProxy,
};

/** The same whether there is no such configuration or it is another organization's. */
export function unknownAuthProxy(): Fault {
  return new Fault("not_found", "auth proxy config not found", { errorCode: unknownCode });
}

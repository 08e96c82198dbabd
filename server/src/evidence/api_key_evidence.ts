/** A stamp by an API key: its holder's signature over the exact body bytes. */

import type { ShownEvidence } from "@keystead/core/crypto/evidence.ts";
import { parseStamp, type Stamp, stampSchemes, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { EvidenceRow, SearchedOrganization } from "./evidence_row.ts";

const unknownCode = "PUBLIC_KEY_NOT_FOUND";
const invalidCode = "SIGNATURE_INVALID";

export const apiKeyEvidence: EvidenceRow<Stamp> = {
  header: "x-stamp",
  carriesKey: true,
  schemes: Object.keys(stampSchemes),
  parse: parseStamp,
  lookup: ({ curve, publicKey }) => ({ by: "key", curve, publicKey }),
  // The key in the stamp is the registered one: it was found by it.
  verify: ({ curves }, stamp, body) => verifyStamp(curves, stamp, body),
  needsOrigins: false,
  keep: (_curves, { scheme, publicKeyBytes, signature }) => ({
    kind: "apiKey",
    value: { scheme, publicKey: publicKeyBytes, signature },
  }),
  show(value) {
    const sent = JSON.parse(Buffer.from(value, "base64url").toString("utf8")) as ShownEvidence;
    // In this order votes are written.
    return { publicKey: sent.publicKey, signature: sent.signature, scheme: sent.scheme };
  },
  fromShown: ({ publicKey, scheme, signature }) =>
    Buffer.from(JSON.stringify({ publicKey, scheme, signature })).toString("base64url"),
  unknownCode,
  invalidCode,
  unknown: unknownKey,
  expired: expiredKey,
  unverified: () => new Fault("unauthenticated", "could not verify api key signature", { errorCode: invalidCode }),
  ambiguous: () =>
    new Fault("unauthenticated", "more than one suborg associated with a public key", {
      errorCode: "CREDENTIAL_CONFLICT",
    }),
};

/**
 * One text for organizations with and without a parent: clients take only this one for "the session is over". Our answer
 * to a key of somebody else's is the same as to one that nobody has.
 */
function unknownKey({ organizationId, parentId }: SearchedOrganization, { publicKey }: Stamp): Fault {
  const parent = parentId === undefined ? "" : ` parentOrganizationId=${parentId}`;
  return new Fault(
    "unauthenticated",
    "could not find public key in organization or its parent organization: " +
      `organizationId=${organizationId} publicKey=${publicKey}${parent}`,
    { errorCode: unknownCode },
  );
}

function expiredKey({ publicKey }: Stamp): Fault {
  return new Fault(
    "unauthenticated",
    `authentication failed: rpc error: code = Unauthenticated desc = expired api key publicKey=${publicKey}`,
    { errorCode: "API_KEY_EXPIRED" },
  );
}

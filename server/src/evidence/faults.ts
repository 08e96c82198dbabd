/** The refusals that evidence can meet, in the published words: clients match them. */
import { Fault } from "@keystead/core/fault.ts";

/** More than one piece of evidence. */
export function malformedEvidence(): Fault {
  return new Fault("unauthenticated", "malformed activity stamp", { errorCode: "SIGNATURE_INVALID" });
}

/**
 * One text for organizations with and without a parent: clients take only this one for "the session is over". Our answer
 * to a key of somebody else's is the same as to one that nobody has.
 */
export function unknownKey(organizationId: string, parentId: string | undefined, publicKey: string): Fault {
  const parent = parentId === undefined ? "" : ` parentOrganizationId=${parentId}`;
  return new Fault(
    "unauthenticated",
    "could not find public key in organization or its parent organization: " +
      `organizationId=${organizationId} publicKey=${publicKey}${parent}`,
    { errorCode: "PUBLIC_KEY_NOT_FOUND" },
  );
}

export function expiredKey(publicKey: string): Fault {
  return new Fault(
    "unauthenticated",
    `authentication failed: rpc error: code = Unauthenticated desc = expired api key publicKey=${publicKey}`,
    { errorCode: "API_KEY_EXPIRED" },
  );
}

export function unverifiedStamp(): Fault {
  return new Fault("unauthenticated", "could not verify api key signature", { errorCode: "SIGNATURE_INVALID" });
}

export function ambiguousKey(): Fault {
  return new Fault("unauthenticated", "more than one suborg associated with a public key", {
    errorCode: "CREDENTIAL_CONFLICT",
  });
}

/** Whether a refusal says that no such credential is registered; another kind's error code is added here. */
export function isUnknownCredential(error: unknown): boolean {
  return error instanceof Fault && error.errorCode === "PUBLIC_KEY_NOT_FOUND";
}

/** Whether a refusal says that evidence cannot be read or does not verify. */
export function isInvalidEvidence(error: unknown): boolean {
  return error instanceof Fault && error.errorCode === "SIGNATURE_INVALID";
}

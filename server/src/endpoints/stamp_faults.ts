/** The refusals a stamp can meet, in the published words: clients match them. */
import { Fault } from "@keystead/core/fault.ts";

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

/** Refusals that gateway and signer both give, and that one must recognise when the other gives them. */
import { Fault } from "@keystead/core/fault.ts";

export function noSuchOrganization(): Fault {
  return new Fault("not_found", "no organization found with the given ID", { errorCode: "ORGANIZATION_NOT_FOUND" });
}

/** Clients look for the first three words. Without a reason it is the answer to a wrong code. */
export function invalidCode(why?: string): Fault {
  return new Fault("invalid_argument", `Invalid OTP code${why === undefined ? "" : `: ${why}; request a new code`}`);
}

const noActivity =
  "No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint";

export function noSuchActivity(): Fault {
  return new Fault("not_found", noActivity);
}

export function isNoSuchActivity(error: unknown): boolean {
  return error instanceof Fault && error.code === "not_found" && error.message === noActivity;
}

/** Of a request by a member of the parent that only members of the organization itself may make. */
export function organizationMismatch(target: string, own: string): Fault {
  return new Fault(
    "invalid_argument",
    `organization mismatch: request is targeting organization ("${target}"), but voters are in organization ("${own}")`,
    { errorCode: "ORGANIZATION_MISMATCH" },
  );
}

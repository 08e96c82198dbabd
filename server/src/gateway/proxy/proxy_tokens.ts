/** Verification tokens of people at the auth proxy: read before anything is looked up by them. The signer reads each again. */
import { Fault } from "@keystead/core/fault.ts";
import { checkVerificationToken, type TokenClaims } from "@keystead/core/otp/verification_token.ts";
import { contactOfToken } from "../../rules/verification_tokens.ts";
import { findVerifiedInSubOrganizations } from "../../store/across.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";
import type { ProxyConfig } from "./proxy_configs.ts";

/** Throws unless the proxy's organization has issued the token and it has not ended. */
export function readProxyToken(
  { curves, otpKey }: SubmitDependencies,
  { organizationId }: ProxyConfig,
  token: string,
): TokenClaims {
  const key = otpKey?.();
  if (key === undefined) throw new Fault("unavailable", "the signer is not ready; try again");
  const judgement = { otpKey: key, acceptedAtMs: 0, nowMs: Date.now(), organizationIds: [organizationId] };
  return checkVerificationToken(curves, token, judgement);
}

/** The sub-organization that the holder of a token signs in to: the one where its contact is verified. */
export async function subOrganizationOfToken(
  dependencies: SubmitDependencies,
  config: ProxyConfig,
  token: string,
): Promise<string> {
  const contact = contactOfToken(readProxyToken(dependencies, config, token));
  const found = await findVerifiedInSubOrganizations(dependencies.store, config.organizationId, contact);
  const [first, ...others] = new Set(found.map(({ organizationId }) => organizationId));
  if (first === undefined) {
    throw new Fault(
      "unauthenticated",
      "could not find a user with the contact of this verification token in organization",
      { errorCode: "CREDENTIAL_NOT_FOUND" },
    );
  }
  if (others.length > 0) {
    throw new Fault("unauthenticated", "more than one user associated with the contact of this verification token", {
      errorCode: "CREDENTIAL_CONFLICT",
    });
  }
  return first;
}

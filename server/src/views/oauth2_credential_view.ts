import type { Oauth2Credential } from "../state/entities.ts";
import { type Dialect, timestamp } from "./dialect.ts";

export function oauth2CredentialView(
  organizationId: string,
  { createdAtMs, updatedAtMs, provider, ...credential }: Oauth2Credential,
  dialect: Dialect,
) {
  return {
    ...credential,
    organizationId,
    provider: dialect.oauth2Provider(provider),
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}

/** What an application signs its users in to an OAuth 2.0 provider with. The client secret stays in the envelope that it came in. */
import { openClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { KeyAccess } from "../endpoints/key_access.ts";
import { checkLimit } from "../endpoints/limits.ts";
import type { Oauth2CredentialParams } from "../fields/oauth2_credentials.ts";
import type { Oauth2Credential } from "../state/entities.ts";
import { oauth2ProviderOf } from "../state/oauth2_providers.ts";
import type { Oauth2CredentialsPage } from "../state/pages.ts";

export function noSuchOauth2Credential(oauth2CredentialId: string, organizationId: string): Fault {
  return new Fault(
    "not_found",
    `unable to find OAuth 2.0 credential ${oauth2CredentialId} in organization ${organizationId}`,
    { errorCode: "OAUTH2_CREDENTIAL_NOT_FOUND" },
  );
}

export function getOauth2Credential(
  page: Oauth2CredentialsPage,
  oauth2CredentialId: string,
  { organizationId }: { organizationId: string },
): Oauth2Credential {
  const found = page.get(oauth2CredentialId);
  if (found === undefined) throw noSuchOauth2Credential(oauth2CredentialId, organizationId);
  return found;
}

export function newOauth2Credential(
  page: Oauth2CredentialsPage,
  params: Oauth2CredentialParams,
  context: ActivityContext,
): Oauth2Credential {
  checkLimit("oauth2Credentials", page.size + 1, context);
  const fields = checkedFields(page, params, undefined, context);
  const { nowMs } = context;
  return { oauth2CredentialId: context.newId(), ...fields, createdAtMs: nowMs, updatedAtMs: nowMs };
}

/** The same credential with other fields: all of them are replaced. */
export function changedOauth2Credential(
  page: Oauth2CredentialsPage,
  { oauth2CredentialId, ...params }: Oauth2CredentialParams & { oauth2CredentialId: string },
  context: ActivityContext,
): Oauth2Credential {
  const before = getOauth2Credential(page, oauth2CredentialId, context);
  return { ...before, ...checkedFields(page, params, before, context), updatedAtMs: context.nowMs };
}

/** `before` is the credential that these take the place of. */
function checkedFields(
  page: Oauth2CredentialsPage,
  { provider: spelling, clientId, encryptedClientSecret }: Oauth2CredentialParams,
  before: Oauth2Credential | undefined,
  context: ActivityContext,
): Pick<Oauth2Credential, "provider" | "clientId" | "encryptedClientSecret"> {
  if (clientId === "") throw new Fault("invalid_argument", "client_id must be set");
  const provider = oauth2ProviderOf(spelling);
  // A sign-in may name provider and client alone: two would leave it open which secret is meant.
  const isTaken = (other: Oauth2Credential) =>
    other !== before && other.provider === provider && other.clientId === clientId;
  const holder = [...page.values()].find(isTaken);
  if (holder !== undefined) {
    throw new Fault(
      "already_exists",
      `OAuth 2.0 credential ${holder.oauth2CredentialId} has this provider and client id: update it`,
    );
  }
  openClientSecretOf({ encryptedClientSecret }, context).fill(0);
  return { provider, clientId, encryptedClientSecret };
}

/** The client secret, which the caller wipes. What cannot be opened now could never be used. */
export function openClientSecretOf(
  credential: Pick<Oauth2Credential, "encryptedClientSecret">,
  { keys, verdicts }: Pick<ActivityContext, "keys" | "verdicts">,
): Uint8Array {
  return verdicts.judge({
    subject: "clientSecret",
    ask: () => openEnvelope(credential, keys),
    standIn: () => new Uint8Array(1),
  });
}

function openEnvelope(
  { encryptedClientSecret }: Pick<Oauth2Credential, "encryptedClientSecret">,
  keys: KeyAccess,
): Uint8Array {
  let secret: Uint8Array | undefined;
  try {
    secret = openClientSecret(keys.hpke, keys.clientSecretKey, fromHex(encryptedClientSecret));
    new TextDecoder("utf-8", { fatal: true }).decode(secret);
  } catch (cause) {
    secret?.fill(0);
    throw unreadable(cause);
  }
  if (secret.length === 0) throw unreadable();
  return secret;
}

function unreadable(cause?: unknown): Fault {
  return new Fault(
    "invalid_argument",
    "encryptedClientSecret does not open: encrypt the secret to the key `clientSecretEncryption` of /.well-known/keystead.json, and " +
      "send the envelope in hex",
    { cause },
  );
}

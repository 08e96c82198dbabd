/** Passkeys a user may have. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { verifyRegistration } from "@keystead/core/webauthn/verify_registration.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { AuthenticatorParams } from "../fields/credentials.ts";
import type { Authenticator, User } from "../state/entities.ts";

/** The most that one activity registers: each is work for the signer, who does one thing at a time. */
const maxPasskeysPerActivity = 200;

/** Passkeys that an activity asks for, of a user that is there or of one that it creates. */
type AskedPasskeys = { user?: User; authenticators?: readonly unknown[] | null | undefined };

/** Refuses what can be told from their number alone, before any of them is verified. */
export function refusePasskeysByCount(asked: readonly AskedPasskeys[], context: ActivityContext): void {
  const count = asked.reduce((sum, { authenticators }) => sum + (authenticators?.length ?? 0), 0);
  if (count > maxPasskeysPerActivity) {
    throw new Fault(
      "invalid_argument",
      `one activity may create at most ${maxPasskeysPerActivity} authenticators, and this one asks for ${count}`,
    );
  }
  for (const { user, authenticators } of asked) {
    checkCount((user?.authenticators?.length ?? 0) + (authenticators?.length ?? 0), context);
  }
}

function checkCount(count: number, { limits }: ActivityContext): void {
  if (count <= limits.authenticatorsPerUser) return;
  throw new Fault(
    "resource_exhausted",
    "user has exceeded maximum authenticators: delete one with delete_authenticators first",
  );
}

/** A passkey from its registration, which is as strong as the stamped activity that carries it. */
export function newAuthenticator(context: ActivityContext, params: AuthenticatorParams): Authenticator {
  const { authenticatorName, challenge, attestation } = params;
  const rule = { allowedOrigins: context.allowedOrigins() };
  const passkey = verifyRegistration(context.curves, { challenge, attestation }, rule);
  return {
    authenticatorId: context.newId(),
    authenticatorName,
    credentialId: passkey.credentialId,
    publicKey: toHex(passkey.publicKey),
    rpIdHash: toHex(passkey.rpIdHash),
    aaguid: passkey.aaguid,
    attestationType: passkey.attestationType,
    transports: passkey.transports,
    counter: passkey.counter,
    createdAtMs: context.nowMs,
    updatedAtMs: context.nowMs,
  };
}

/** The user with more passkeys. */
export function withAuthenticators(user: User, added: readonly Authenticator[], context: ActivityContext): User {
  if (added.length === 0) return user;
  const authenticators = [...(user.authenticators ?? []), ...added];
  checkCount(authenticators.length, context);
  return { ...user, authenticators, updatedAtMs: context.nowMs };
}

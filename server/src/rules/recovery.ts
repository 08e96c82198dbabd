/**
 * A recovery key registers one passkey for its user and can do nothing else. It is mailed to an address, so whoever reads the mailbox might
 * have it: it neither votes nor reads more than whose it is, whatever policies, quorum or session profiles say.
 */
import { Fault } from "@keystead/core/fault.ts";
import { isRecoveryKey } from "../state/credentials.ts";
import type { ApiKey, User } from "../state/entities.ts";

/** What an endpoint says about recovery keys. */
type OpenTo = { byRecoveryKey?: true | undefined };

/** Refuses a recovery key everywhere but where it belongs, and every other credential there. */
export function checkRecoveryKey({ byRecoveryKey }: OpenTo, credential: Pick<ApiKey, "type">): void {
  const isOne = isRecoveryKey(credential);
  if (isOne === (byRecoveryKey === true)) return;
  throw isOne ? recoversOnly() : needsRecoveryKey();
}

export function recoversOnly(): Fault {
  return notAuthorized(
    "a recovery key can do nothing but recover its user: add a passkey with recover_user and sign in with it",
  );
}

function needsRecoveryKey(): Fault {
  return notAuthorized(
    "recover_user is stamped with the key that init_user_email_recovery mails; with any other credential use create_authenticators",
  );
}

function notAuthorized(why: string): Fault {
  return new Fault("permission_denied", `request not authorized: ${why}`, { errorCode: "REQUEST_NOT_AUTHORIZED" });
}

/** The user once recovered: none of these keys is of any more use. */
export function withoutRecoveryKeys(user: User): User {
  return { ...user, apiKeys: user.apiKeys.filter((key) => !isRecoveryKey(key)) };
}

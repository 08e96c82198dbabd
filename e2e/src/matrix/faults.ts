/** What several entries are refused with, in this organization's words. */
import { notFound, policyRefusal } from "../refusals.ts";
import type { Refusal } from "../wire.ts";
import type { ForeignIds } from "./entry.ts";
import type { Place } from "./stage.ts";

export const badName = "has characters that are not allowed";

export function noSuchUser({ userId }: Pick<ForeignIds, "userId">, { organizationId }: Place): Refusal {
  return notFound(`unable to find user ${userId} in organization ${organizationId}`);
}

export function noSuchTag({ userTagId }: Pick<ForeignIds, "userTagId">, { organizationId }: Place): Refusal {
  return notFound(`unable to find user tag ${userTagId} in organization ${organizationId}`);
}

export function noSuchWallet({ walletId }: Pick<ForeignIds, "walletId">, { organizationId }: Place): Refusal {
  return notFound(`unable to find wallet ${walletId} in organization ${organizationId}`);
}

export function noSuchPrivateKey(
  { privateKeyId }: Pick<ForeignIds, "privateKeyId">,
  { organizationId }: Place,
): Refusal {
  return notFound(`unable to find private key ${privateKeyId} in organization ${organizationId}`);
}

export function noSuchPrivateKeyTag(
  { privateKeyTagId }: Pick<ForeignIds, "privateKeyTagId">,
  { organizationId }: Place,
): Refusal {
  return notFound(`unable to find private key tag ${privateKeyTagId} in organization ${organizationId}`);
}

export function noSuchPolicy({ policyId }: Pick<ForeignIds, "policyId">, { organizationId }: Place): Refusal {
  return notFound(`unable to find policy ${policyId} in organization ${organizationId}`);
}

export function noSuchInterface(
  { smartContractInterfaceId }: Pick<ForeignIds, "smartContractInterfaceId">,
  { organizationId }: Place,
): Refusal {
  return notFound(
    `unable to find smart contract interface ${smartContractInterfaceId} in organization ${organizationId}`,
  );
}

export function exists(message: string | RegExp): Refusal {
  return { status: 409, code: 6, message };
}

/** Somebody else's import, whoever that is. */
export const notOwnAct: Refusal = {
  ...policyRefusal,
  details: [
    {
      "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
      message: "`userId` must be the user who makes this request",
      policyEvaluations: [],
    },
  ],
};

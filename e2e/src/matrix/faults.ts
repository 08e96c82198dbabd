/** What several entries are refused with, in this organization's words. */
import { notFound } from "../refusals.ts";
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

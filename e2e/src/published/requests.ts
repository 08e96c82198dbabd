/** Bodies as both published clients build them, member for member in the same order, so that their bytes are the same. */
import type { Person } from "./clients.ts";

export function tagBody({ organizationId }: Person, userTagName: string, timestampMs = Date.now()) {
  return {
    parameters: { userTagName, userIds: [] as string[] },
    organizationId,
    timestampMs: String(timestampMs),
    type: "ACTIVITY_TYPE_CREATE_USER_TAG" as const,
  };
}

export type TagBody = ReturnType<typeof tagBody>;

function decision({ organizationId }: Person, fingerprint: string) {
  return { parameters: { fingerprint }, organizationId, timestampMs: String(Date.now()) };
}

export function approvalBody(person: Person, fingerprint: string) {
  return { ...decision(person, fingerprint), type: "ACTIVITY_TYPE_APPROVE_ACTIVITY" as const };
}

export function rejectionBody(person: Person, fingerprint: string) {
  return { ...decision(person, fingerprint), type: "ACTIVITY_TYPE_REJECT_ACTIVITY" as const };
}

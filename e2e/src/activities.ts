/** What an organization keeps of what was asked of it, as its members see it. */
import type { KeyPair } from "./fixtures.ts";
import { type Answer, assertAccepted, call } from "./wire.ts";

export type SeenActivity = { id: string; fingerprint: string; status: string; failure: Answer["json"] };

/** All of an organization's activities, newest first, by as many pages as it takes. */
export async function seenActivities(
  list: (paginationOptions: object) => Promise<Answer["json"]>,
): Promise<SeenActivity[]> {
  const seen: SeenActivity[] = [];
  for (;;) {
    const before = seen.at(-1)?.id;
    const { activities } = await list({ limit: "100", ...(before !== undefined && { before }) });
    for (const { id, fingerprint, status, failure } of activities) seen.push({ id, fingerprint, status, failure });
    if (activities.length < 100) return seen;
  }
}

export function activitiesOf(url: string, organizationId: string, key: KeyPair): Promise<SeenActivity[]> {
  return seenActivities(async (paginationOptions) => {
    const body = { organizationId, paginationOptions };
    const answer = await call(url, "/public/v1/query/list_activities", key, body);
    assertAccepted(answer);
    return answer.json;
  });
}

/** What an organization keeps of what was asked of it, as its members see it. */
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../../core/test/patience.ts";
import type { KeyPair } from "./key_pairs.ts";
import { type Answer, assertAccepted, call } from "./wire.ts";

export type SeenActivity = { id: string; fingerprint: string; status: string; failure: Answer["json"] | undefined };

type List = (paginationOptions: object) => Promise<Answer["json"]>;

/** All of an organization's activities, newest first, by as many pages as it takes. */
export async function seenActivities(list: List): Promise<SeenActivity[]> {
  for (const until = Date.now() + patienceMs; ; await sleep(50)) {
    const seen = await readAll(list);
    // A signature is pending for the moment in which its result is written to its row.
    if (Date.now() > until || !seen.some(({ status }) => status === "ACTIVITY_STATUS_PENDING")) return seen;
  }
}

/** Until a page is empty: one of large bodies has fewer than were asked for. */
async function readAll(list: List): Promise<SeenActivity[]> {
  const seen: SeenActivity[] = [];
  for (;;) {
    const before = seen.at(-1)?.id;
    const { activities } = await list({ limit: "100", ...(before !== undefined && { before }) });
    if (activities.length === 0) return seen;
    for (const { id, fingerprint, status, failure } of activities) seen.push({ id, fingerprint, status, failure });
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

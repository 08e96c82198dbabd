/** Ids that an organization must answer like ids of nothing. */
import { randomUUID } from "node:crypto";
import { assertAccepted } from "../wire.ts";
import type { ForeignIds } from "./entry.ts";
import { fingerprintOf, type Scene } from "./scene.ts";
import type { Place } from "./stage.ts";

export function idsOfNothing(): ForeignIds {
  return {
    userId: randomUUID(),
    apiKeyId: randomUUID(),
    userTagId: randomUUID(),
    activityId: randomUUID(),
    fingerprint: fingerprintOf(randomUUID()),
  };
}

/** Of things that are there, in that place. */
export async function foreignIds(scene: Scene, place: Place): Promise<ForeignIds> {
  const parameters = { userTagName: randomUUID(), userIds: [] };
  const answer = await scene.submit("create_user_tag", parameters, place.root, place);
  assertAccepted(answer);
  const { id, fingerprint, result } = answer.json.activity;
  const { userTagId } = result.createUserTagResult;
  const [apiKeyId = ""] = place.member.apiKeyIds;
  return { userId: place.member.userId, apiKeyId, userTagId, activityId: id, fingerprint };
}

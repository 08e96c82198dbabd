/** Ids that an organization must answer like ids of nothing. */
import { randomBytes, randomUUID } from "node:crypto";
import { assertAccepted } from "../wire.ts";
import { newInterface } from "./contract_interfaces.ts";
import type { ForeignIds } from "./entry.ts";
import { type Fixture, fingerprintOf } from "./fixture.ts";
import { newAccount, newPrivateKey, newPrivateKeyTag } from "./keys.ts";
import { newPolicy } from "./policies.ts";
import type { Place } from "./stage.ts";

export function idsOfNothing(): ForeignIds {
  return {
    userId: randomUUID(),
    apiKeyId: randomUUID(),
    userTagId: randomUUID(),
    walletId: randomUUID(),
    walletAccountId: randomUUID(),
    address: `0x${randomBytes(20).toString("hex")}`,
    privateKeyId: randomUUID(),
    privateKeyTagId: randomUUID(),
    policyId: randomUUID(),
    smartContractInterfaceId: randomUUID(),
    activityId: randomUUID(),
    fingerprint: fingerprintOf(randomUUID()),
  };
}

/** Of things that are there, in that place. */
export async function foreignIds(fixture: Fixture, place: Place): Promise<ForeignIds> {
  const parameters = { userTagName: randomUUID(), userIds: [] };
  const answer = await fixture.submit("create_user_tag", parameters, place.root, place);
  assertAccepted(answer);
  const { id, fingerprint, result } = answer.json.activity;
  const { userTagId } = result.createUserTagResult;
  const [apiKeyId = ""] = place.member.apiKeyIds;
  const { walletId, walletAccountId, address } = await newAccount(fixture, place);
  const privateKeyId = await newPrivateKey(fixture, place);
  const privateKeyTagId = await newPrivateKeyTag(fixture, [], place);
  return {
    userId: place.member.userId,
    apiKeyId,
    userTagId,
    activityId: id,
    fingerprint,
    walletId,
    walletAccountId,
    address,
    privateKeyId,
    privateKeyTagId,
    policyId: await newPolicy(fixture, place),
    smartContractInterfaceId: await newInterface(fixture, place),
  };
}

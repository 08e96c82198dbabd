/** Passkeys of a sub-organization whose parent changes all the time: its list of origins is read along with each of their requests. */
import assert from "node:assert/strict";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { type GatewayRig, Refused } from "../../../test/gateway_rig.ts";
import { origin, passkeyEvidence, passkeyParams, testPasskey } from "../../../test/passkeys.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import type { Reply, Request } from "../../frames/messages.ts";
import { activities } from "../../generated/activities.ts";
import { dialectOf } from "../../views/dialect.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { createOrganizations } from "./organization_states.ts";
import { submit } from "./submit.ts";

/** A child with a passkey. Whenever it asks the signer, `before` happens first; `said` is what the operator hears. */
async function createChild(rig: GatewayRig, before: (attempt: number) => Promise<unknown>) {
  const rootUsers = [{ userName: "Kim", authenticators: [passkeyParams(0)] }];
  const parameters = { subOrganizationName: "Sub", rootUsers, rootQuorumThreshold: 1 };
  const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
  const { subOrganizationId: organizationId } = result.createSubOrganizationResultV8 as { subOrganizationId: string };
  const said: string[] = [];
  let attempts = 0;
  const request = async (kind: "prepare", message: Request<"prepare">): Promise<Reply<"prepare">> => {
    if (kind === "prepare") await before(attempts++);
    return rig.link.request(kind, message);
  };
  const link = { ...rig.link, request: request as SignerLink["request"] };
  const organizations = createOrganizations(rig.store, link, (_, message) => said.push(message));
  const dependencies = { ...rig.dependencies, organizations };
  const tag = async (userTagName: string) => {
    const body = rig.body("create_user_tag", { userTagName, userIds: [] }, { organizationId });
    const stamped = { body, evidence: passkeyEvidence(testPasskey(0), body), idempotencyKey: undefined };
    const activity = activities.create_user_tag as AnyActivity;
    const answer = await submit(dependencies, activity, stamped, dialectOf(undefined));
    if ("failure" in answer) throw new Refused(answer.failure);
    return answer.activity.status;
  };
  return { tag, said, attempts: () => attempts };
}

const completed = "ACTIVITY_STATUS_COMPLETED";

onBothDatabases(
  "a parent that changes before every attempt does not keep its children's passkeys waiting",
  async (rig) => {
    const change = (attempt: number) =>
      rig.submit(rig.root, "create_user_tag", { userTagName: `parent ${attempt}`, userIds: [] });
    const child = await createChild(rig, change);
    assert.equal(await child.tag("first"), completed);
    assert.ok(child.attempts() <= 3, `${child.attempts()} attempts`);
    const before = child.attempts();
    assert.equal(await child.tag("second"), completed);
    assert.ok(child.attempts() - before <= 2, `${child.attempts() - before} attempts`);
    assert.deepEqual(child.said, []);
  },
);

onBothDatabases(
  "a parent whose list changes before twenty attempts is busy, and its rows are not called changed",
  async (rig) => {
    const change = async (attempt: number) => {
      if (attempt >= 20) return;
      await rig.submit(rig.root, "update_allowed_origins", {
        allowedOrigins: [origin, `https://n${attempt}.example.com`],
      });
    };
    const child = await createChild(rig, change);
    assert.equal(await child.tag("at last"), completed);
    assert.ok(child.attempts() > 20);
    assert.deepEqual(child.said, []);
  },
);

onBothDatabases("a parent's state that is older than what was released is said to the operator", async (rig) => {
  const child = await createChild(rig, async () => undefined);
  const pin = rig.signer.memory.pins.get(uuidToBytes(rig.organizationId));
  assert.ok(pin);
  const ahead = { version: pin.version + 3, digest: new Uint8Array(16).fill(7) };
  rig.signer.memory.pins.set(uuidToBytes(rig.organizationId), ahead);
  await assert.rejects(child.tag("none"), { code: "unavailable", message: /failed verification/ });
  assert.match(child.said.at(-1) ?? "", /the state of its parent .* is missing or older than what was released/);
});

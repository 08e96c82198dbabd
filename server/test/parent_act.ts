/** An activity that is open to parents, for tests alone: it renames a user of the organization that it runs in. */
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { type ActivityForm, type AnyActivity, defineActivity, formsOf } from "../src/endpoints/define_activity.ts";
import { Type } from "../src/fields/schema.ts";
import { submit } from "../src/gateway/submit/submit.ts";
import { activityForms } from "../src/generated/activities.ts";
import { activityValidators } from "../src/generated/activity_validators.ts";
import { put } from "../src/state/entities.ts";
import { getUser } from "../src/state/members.ts";
import { dialectOf } from "../src/views/dialect.ts";
import { stampEvidence } from "./evidence.ts";
import { type Activity, type GatewayRig, type Person, Refused } from "./gateway_rig.ts";

/** A type that nobody sends, of a kind that policies know. */
const parentAct = defineActivity({
  path: "test_parent_act",
  type: "ACTIVITY_TYPE_OTP_LOGIN_V99",
  intentKey: "testParentActIntent",
  resultKey: "testParentActResult",
  summary: "Rename a user",
  params: Type.Object({ userId: Type.String(), userName: Type.String() }),
  result: Type.Object({ userId: Type.String() }),
  openToParent: true,
  // To a parent, nothing is its own.
  ownCredentialOf: (_, requesterId) => requesterId,
  state: ({ members }) => members,
  run(members, { userId, userName }, { organizationId }) {
    const user = getUser(members, organizationId, userId);
    return { changes: [put("user", { ...user, userName })], result: { userId } };
  },
});

/** The registry is a constant of the running server; in a test's own process it gets one more. */
export function registerParentAct(): void {
  for (const form of formsOf(parentAct as AnyActivity)) {
    (activityForms as Map<string, ActivityForm>).set(form.type, form);
    (activityValidators as Record<string, (value: unknown) => boolean>)[form.type] = () => true;
  }
}

export function parentActBody(rig: GatewayRig, organizationId: string, userId: string, userName: string): Uint8Array {
  const model = JSON.parse(Buffer.from(rig.body("stamp_login", {})).toString("utf8"));
  const parameters = { userId, userName };
  return Buffer.from(JSON.stringify({ ...model, type: parentAct.type, organizationId, parameters }));
}

export async function sendParentAct(rig: GatewayRig, person: Person, body: Uint8Array): Promise<Activity> {
  const evidence = stampEvidence(signStamp(person.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body));
  const arrival = { body, evidence };
  const answer = await submit(rig.dependencies, parentAct as AnyActivity, arrival, dialectOf(undefined));
  if ("failure" in answer) throw new Refused(answer.failure);
  return answer.activity;
}

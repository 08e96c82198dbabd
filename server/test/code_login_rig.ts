/** Sign-in by verification tokens, through gateway and signer: sub-organizations with contacts, and requests of those who hold tokens. */
import assert from "node:assert/strict";
import type { AnyActivity } from "../src/endpoints/define_activity.ts";
import { submit } from "../src/gateway/submit/submit.ts";
import { activities } from "../src/generated/activities.ts";
import type { User } from "../src/state/entities.ts";
import { decodePage } from "../src/state/pages.ts";
import { findPage, findVersion } from "../src/store/organizations.ts";
import { dialectOf } from "../src/views/dialect.ts";
import {
  type Activity,
  type ActivityPath,
  type BodyOptions,
  type GatewayRig,
  newUser,
  type Person,
  Refused,
} from "./gateway_rig.ts";
import { newKey } from "./session_rig.ts";
import {
  attestedEvidence,
  contactSignature,
  type HeldToken,
  heldToken,
  loginSignature,
} from "./verification_tokens.ts";

export type Contacts = { userEmail?: string; userPhoneNumber?: string };
export type Home = { organizationId: string; people: [Person, ...Person[]] };

/** A sub-organization whose root users have these contacts, which nobody has proved. */
export async function newHome(rig: GatewayRig, ...contacts: readonly [Contacts, ...Contacts[]]): Promise<Home> {
  const drafts = contacts.map((each, index) => ({ ...newUser(`user ${index}`), contacts: each }));
  const rootUsers = drafts.map(({ user, contacts: own }) => ({ ...user, ...own }));
  const parameters = { subOrganizationName: "Home", rootUsers, rootQuorumThreshold: 1 };
  const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
  const born = result.createSubOrganizationResultV8 as { subOrganizationId: string; rootUserIds: string[] };
  const people = drafts.map(({ user, privateKey }, index) => {
    return { userId: born.rootUserIds[index] ?? "", userName: user.userName, privateKey };
  });
  return { organizationId: born.subOrganizationId, people: people as Home["people"] };
}

/** The parameters of a login with a new session key. */
export function loginParams(held: HeldToken, { publicKey } = newKey()) {
  return { verificationToken: held.token, publicKey, clientSignature: loginSignature(held, publicKey) };
}

/** What gives a user an e-mail address that its holder has proved. */
export function provenEmail(rig: GatewayRig, { userId }: Pick<Person, "userId">, userEmail: string) {
  const held = heldToken(rig.signer, { contact: userEmail });
  const clientSignature = contactSignature(held, userId, userEmail);
  return { userId, userEmail, verificationToken: held.token, clientSignature };
}

/** A body of an older type of a path. */
export function olderBody(
  rig: GatewayRig,
  path: ActivityPath,
  type: string,
  parameters: object,
  options: BodyOptions = {},
): Uint8Array {
  const body = JSON.parse(Buffer.from(rig.body(path, parameters, options)).toString("utf8"));
  return Buffer.from(JSON.stringify({ ...body, type }));
}

/** The first version's login, which takes tokens that are bound to no key. */
export function unboundLogin(rig: GatewayRig, organizationId: string, { token }: HeldToken): Uint8Array {
  const parameters = { verificationToken: token, publicKey: newKey().publicKey };
  return olderBody(rig, "otp_login", "ACTIVITY_TYPE_OTP_LOGIN", parameters, { organizationId });
}

/** Sends bytes with a stamp that a token vouches for. */
export async function sendAttested(
  rig: GatewayRig,
  path: ActivityPath,
  body: Uint8Array,
  held: HeldToken,
): Promise<Activity> {
  const arrival = { body, evidence: attestedEvidence(held, body) };
  const answer = await submit(rig.dependencies, activities[path] as AnyActivity, arrival, dialectOf(undefined));
  if ("failure" in answer) throw new Refused(answer.failure);
  return answer.activity;
}

/** Signs in with an attested stamp; the session's owner as the token says it. */
export async function attestedLogin(rig: GatewayRig, organizationId: string, held: HeldToken) {
  const key = newKey();
  const body = rig.body("stamp_login", { publicKey: key.publicKey }, { organizationId });
  const activity = await sendAttested(rig, "stamp_login", body, held);
  return { activity, body, key };
}

export async function userIn(rig: GatewayRig, organizationId: string, userId: string): Promise<User> {
  const page = await findPage(rig.store, organizationId, "members");
  const user = page && decodePage("members", page).users.get(userId);
  assert.ok(user);
  return user;
}

export async function versionOf(rig: GatewayRig, organizationId: string): Promise<number> {
  const version = await findVersion(rig.store, organizationId);
  assert.ok(version !== undefined);
  return version;
}

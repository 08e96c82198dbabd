/** Organizations in tests that act as the signer lets them: leaves with headers, votes and stamps, and the bodies that they name. */
import { toHex } from "../../src/encoding/hex.ts";
import { uuidFromBytes } from "../../src/encoding/uuid.ts";
import { encodeHeader, macLength } from "../../src/log/header.ts";
import { encodeLeaf, type NewLeaf } from "../../src/log/leaf.ts";
import type { NamedState } from "../../src/log/leaf_format_2.ts";
import type { LeafEvent, LeafGrounds } from "../../src/log/leaf_words.ts";
import type { Random } from "../seeded_random.ts";
import { sha256 } from "../webauthn/authenticator.ts";
import { bytesOf, createUser, type StampKind, stampKinds, type TestUser } from "./stampers.ts";

const utf8 = new TextEncoder();
export const json = (value: unknown): Uint8Array<ArrayBuffer> => utf8.encode(JSON.stringify(value));

/** A leaf with what it names. */
export type MadeLeaf = {
  organizationId: string;
  isOperators: boolean;
  leaf: Uint8Array;
  bodies: readonly Uint8Array[];
};

export type Clock = { nowMs: number };

/** One organization, and its newest state. */
export type TestOrganization = {
  id: Uint8Array;
  uuid: string;
  parentId: Uint8Array | undefined;
  users: readonly TestUser[];
  state: NamedState | undefined;
};

export type Scene = { random: Random; clock: Clock; boot: Uint8Array; number: number };

export function createOrganization(
  random: Random,
  parent?: TestOrganization,
  kinds?: readonly StampKind[],
): TestOrganization {
  const id = bytesOf(random, 16);
  const users = (kinds ?? [random.pick(stampKinds), "p256", "p256"]).map((kind) => createUser(kind, random));
  return { id, uuid: uuidFromBytes(id), parentId: parent?.id, users, state: undefined };
}

/** The next state; its header goes into a leaf with a MAC behind, which here is random. */
export function nextHeader({ random }: Scene, organization: TestOrganization): Uint8Array {
  const content = encodeHeader({
    organizationId: organization.id,
    parentId: organization.parentId,
    version: (organization.state?.version ?? 0) + 1,
    previous: organization.state?.digest ?? new Uint8Array(32),
    directory: bytesOf(random, 32),
  });
  organization.state = {
    organizationId: organization.id,
    version: (organization.state?.version ?? 0) + 1,
    digest: sha256(content),
  };
  return Uint8Array.of(...content, ...bytesOf(random, macLength));
}

/** Fields that all leaves have; the clock goes on with each. */
export function newLeaf(scene: Scene, organization: TestOrganization, fields: Partial<NewLeaf>): NewLeaf {
  scene.number += 1;
  scene.clock.nowMs += 1 + scene.random.below(1_000);
  return {
    boot: scene.boot,
    number: scene.number,
    blind: bytesOf(scene.random, 16),
    event: "COMPLETED",
    grounds: "POLICY",
    organizationId: organization.id,
    activityId: new Uint8Array(16),
    activityType: "",
    fingerprint: new Uint8Array(32),
    timeMs: scene.clock.nowMs,
    states: [],
    header: undefined,
    evidence: [],
    outside: [],
    outcome: sha256(""),
    ...fields,
  };
}

export function made(
  organization: TestOrganization,
  leaf: NewLeaf,
  bodies: readonly Uint8Array[],
  isOperators = false,
): MadeLeaf {
  return { organizationId: organization.uuid, isOperators, leaf: encodeLeaf(leaf), bodies };
}

export type Activity = { body: Uint8Array; type: string; activityId: Uint8Array; fingerprint: Uint8Array };

export function newActivity({ random, clock }: Scene, { uuid }: TestOrganization): Activity {
  const type = random.pick(["ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "ACTIVITY_TYPE_CREATE_USER_TAG"]);
  const body = json({
    type,
    timestampMs: String(clock.nowMs),
    organizationId: uuid,
    parameters: { payload: toHex(bytesOf(random, 32)) },
  });
  return { body, type, activityId: bytesOf(random, 16), fingerprint: sha256(body) };
}

export type Act = {
  user: TestUser;
  stamped: Uint8Array;
  event: LeafEvent;
  grounds: LeafGrounds;
  changes: boolean;
  result?: unknown;
};

export function actLeaf(scene: Scene, organization: TestOrganization, activity: Activity, act: Act): MadeLeaf {
  const { event, grounds, user, stamped, changes, result } = act;
  const states = organization.state === undefined ? [] : [organization.state];
  const outcome = result === undefined ? undefined : json(result);
  const leaf = newLeaf(scene, organization, {
    ...{ event, grounds, states },
    activityId: activity.activityId,
    activityType: activity.type,
    fingerprint: activity.fingerprint,
    evidence: [user.evidence(stamped)],
    header: changes ? nextHeader(scene, organization) : undefined,
    outcome: sha256(outcome ?? ""),
  });
  return made(organization, leaf, [stamped, ...(outcome === undefined ? [] : [outcome])]);
}

export function vote(
  { clock }: Scene,
  { uuid }: TestOrganization,
  { fingerprint }: Activity,
  selection: "APPROVE" | "REJECT",
) {
  return json({
    type: `ACTIVITY_TYPE_${selection}_ACTIVITY`,
    timestampMs: String(clock.nowMs),
    organizationId: uuid,
    parameters: { fingerprint: `sha256:${toHex(fingerprint)}` },
  });
}

/** One to four leaves: an activity that runs or is refused at once, or that waits for votes. */
export function actIn(scene: Scene, organization: TestOrganization): MadeLeaf[] {
  const { random } = scene;
  const activity = newActivity(scene, organization);
  const user = random.pick(organization.users);
  const at = (act: Omit<Act, "user" | "stamped"> & Partial<Act>): MadeLeaf =>
    actLeaf(scene, organization, activity, { user, stamped: activity.body, ...act });
  const chance = random.below(10);
  const result = { signature: toHex(bytesOf(random, 64)) };
  if (chance < 4) return [at({ event: "COMPLETED", grounds: "POLICY", changes: false, result })];
  if (chance < 6) return [at({ event: "COMPLETED", grounds: "ROOT_QUORUM", changes: true, result })];
  if (chance < 7) return [at({ event: "FAILED", grounds: "NONE", changes: false, result: { code: 3, message: "no" } })];
  if (chance < 8)
    return [at({ event: "REJECTED", grounds: "NONE", changes: false, result: { code: 7, message: "no" } })];
  const [first, second, third] = organization.users;
  if (first === undefined || second === undefined || third === undefined) return [];
  const approve = () => vote(scene, organization, activity, "APPROVE");
  const submitted = at({ user: first, event: "SUBMITTED", grounds: "NONE", changes: true });
  const voted = at({ user: second, stamped: approve(), event: "VOTED", grounds: "NONE", changes: true });
  if (chance === 8) {
    const rejection = vote(scene, organization, activity, "REJECT");
    return [
      submitted,
      voted,
      at({ user: first, stamped: rejection, event: "REJECTED", grounds: "NONE", changes: true }),
    ];
  }
  const leaves = [submitted, voted];
  if (random.below(3) === 0) {
    // The day of the first approval is over: the same user may approve again.
    scene.clock.nowMs += 24 * 3_600_000;
    leaves.push(at({ user: second, stamped: approve(), event: "VOTED", grounds: "NONE", changes: true }));
  }
  return [
    ...leaves,
    at({ user: third, stamped: approve(), event: "COMPLETED", grounds: "POLICY", changes: true, result }),
  ];
}

/** The parent's act and the child's first leaf. */
export function bear(scene: Scene, parent: TestOrganization, child: TestOrganization): MadeLeaf[] {
  const activity = newActivity(scene, parent);
  const user = scene.random.pick(parent.users);
  const states = parent.state === undefined ? [] : [parent.state];
  const header = nextHeader(scene, child);
  const result = json({ subOrganizationId: child.uuid });
  const common = {
    activityId: activity.activityId,
    activityType: activity.type,
    fingerprint: activity.fingerprint,
    ...{ states, header },
    evidence: [user.evidence(activity.body)],
  };
  return [
    made(parent, newLeaf(scene, parent, { ...common, outcome: sha256(result) }), [activity.body, result]),
    made(child, newLeaf(scene, child, { ...common, event: "BIRTH" }), [activity.body]),
  ];
}

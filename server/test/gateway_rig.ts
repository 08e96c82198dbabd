/**
 * Gateway and signer in this process, on a real database: everything between HTTP and the keys but the socket. The
 * clock is the test's, so that a day can pass.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { nodeCurves } from "../src/curves/node_curves.ts";
import type { AnyActivity } from "../src/endpoints/define_activity.ts";
import type { MessageKind } from "../src/frames/messages.ts";
import { createReachedLimits } from "../src/gateway/bounds/reached_limits.ts";
import { createRepeats } from "../src/gateway/bounds/repeats.ts";
import { type CourierOrders, noOrders } from "../src/gateway/link/courier_orders.ts";
import type { SignerLink } from "../src/gateway/link/signer_link.ts";
import { joinLog } from "../src/gateway/log/join_log.ts";
import { LogPlaces } from "../src/gateway/places/log_places.ts";
import { createCommitter } from "../src/gateway/submit/committer.ts";
import { createOrganizations } from "../src/gateway/submit/organization_states.ts";
import { submit } from "../src/gateway/submit/submit.ts";
import type { SubmitDependencies } from "../src/gateway/submit/submit_dependencies.ts";
import { toCommitItem } from "../src/gateway/submit/to_commit_item.ts";
import { activities } from "../src/generated/activities.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { commitGroup } from "../src/store/commit.ts";
import type { Store } from "../src/store/store.ts";
import { dialectOf } from "../src/views/dialect.ts";
import type { Failure } from "../src/views/error_body.ts";
import { stampEvidence } from "./evidence.ts";
import { openTestStore } from "./open_test_store.ts";
import { createSignerRig, type SignerRig } from "./signer_rig.ts";
import { createTestIssuers, type TestIssuers } from "./test_issuers.ts";

export type Person = { userId: string; userName: string; privateKey: Uint8Array };

type Answer = Awaited<ReturnType<typeof submit>>;
export type Activity = Extract<Answer, { activity: unknown }>["activity"];

export type ActivityPath = keyof typeof activities;

/** `organizationId` when it is not the first one's. */
export type BodyOptions = { agoMs?: number; organizationId?: string };

export type GatewayRig = {
  store: Store;
  signer: SignerRig;
  link: SignerLink;
  places: LogPlaces;
  /** What the courier would say about issuers of identity tokens. */
  issuers: TestIssuers;
  dependencies: SubmitDependencies;
  organizationId: string;
  root: Person;
  /** What carries out the signer's orders. */
  orders: CourierOrders;
  /** Where requests come from, for tests that ask about addresses. */
  source?: { address: string | undefined };
  /** The bytes of a submit at the signer's time, or `agoMs` before. */
  body(path: ActivityPath, parameters: unknown, options?: BodyOptions): Uint8Array;
  /** Sends bytes as they are; a refusal that was stored is thrown as what it answers. */
  send(person: Person, path: ActivityPath, body: Uint8Array, idempotencyKey?: string): Promise<Activity>;
  /** A new body, sent. */
  submit(person: Person, path: ActivityPath, parameters: unknown, options?: BodyOptions): Promise<Activity>;
  /** A new user with a key, made by the root user. */
  newPerson(userName: string): Promise<Person>;
  /** A new sub-organization whose root users have these names. */
  newSubOrganization(
    threshold: number,
    userNames: readonly string[],
  ): Promise<{ organizationId: string; people: Person[] }>;
};

/** Thrown for an answer that is not an activity. */
export class Refused extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The signer's clock begins at `nowMs`. The gateway reads the expiry of keys and votes off the real one. */
export async function createGatewayRig(
  t: TestContext,
  dialect: Store["dialect"],
  nowMs = Date.now(),
  /** False: as before there were logs, nothing of one is stored. */
  keepsLog = true,
): Promise<GatewayRig | undefined> {
  const store = await openTestStore(t, dialect);
  if (store === undefined) return undefined;
  const signer = createSignerRig({ nowMs });
  const { organizationId, userId, userName } = signer.orders.birth;
  const birth = toCommitItem(signer.birthRow);
  await commitGroup(store, [birth], []);
  await commitGroup(store, [], [{ organizationId, boot: birth.leaf.boot, number: birth.leaf.number }]);
  const places = new LogPlaces(inProcess(signer));
  const link = places.watch(inProcess(signer));
  const { publicKeys, otpKey, statementMac } = openKeyring(signer.rootKey, 1, signer.keyring);
  const issuers = createTestIssuers(statementMac, signer.clock);
  const organizations = createOrganizations(store, link, () => undefined, undefined, issuers, {
    exchange: (request) => rig.orders.exchange(request),
  });
  const committer = createCommitter(store, link, { places });
  if (keepsLog)
    await joinLog({ store, link, committer, places, sign: assert.fail, note: assert.fail }, { serves: true });
  const repeats = createRepeats();
  const notarizerKey = nodeCurves.compressPoint("p256", fromHex(publicKeys.notarizer));
  const dependencies: SubmitDependencies = {
    store,
    curves: nodeCurves,
    notarizerKey: () => notarizerKey,
    otpKey: () => otpKey,
    issuers,
    organizations,
    committer,
    repeats,
    reachedLimits: createReachedLimits(),
    signerTrouble: () => undefined,
  };
  const root: Person = { userId, userName, privateKey: signer.apiPrivateKey };
  let ticks = 0;

  const rig: GatewayRig = {
    store,
    signer,
    link,
    places,
    issuers,
    orders: noOrders,
    dependencies,
    organizationId,
    root,
    body(path, parameters, { agoMs = 0, organizationId: within = organizationId } = {}) {
      ticks += 1;
      const { type } = activities[path];
      const timestampMs = String(signer.clock.nowMs - agoMs - (ticks % 5_000));
      return Buffer.from(JSON.stringify({ type, timestampMs, organizationId: within, parameters }));
    },
    async send({ privateKey }, path, body, idempotencyKey) {
      const stamp = signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
      const activity = activities[path] as AnyActivity;
      const answer = await submit(
        dependencies,
        activity,
        { body, evidence: stampEvidence(stamp), idempotencyKey, source: rig.source },
        dialectOf(undefined),
      );
      if ("failure" in answer) throw new Refused(answer.failure);
      return answer.activity;
    },
    submit: (person, path, parameters, options) => rig.send(person, path, rig.body(path, parameters, options)),
    async newPerson(name) {
      const { user, privateKey } = newUser(name);
      const { result } = await rig.submit(root, "create_users", { users: [{ ...user, userTags: [] }] });
      const { userIds } = result.createUsersResult as { userIds: [string] };
      return { userId: userIds[0], userName: name, privateKey };
    },
    async newSubOrganization(rootQuorumThreshold, userNames) {
      const drafts = userNames.map(newUser);
      const rootUsers = drafts.map(({ user }) => user);
      const parameters = { subOrganizationName: "Sub", rootUsers, rootQuorumThreshold };
      const { result } = await rig.submit(root, "create_sub_organization", parameters);
      const born = result.createSubOrganizationResultV8 as { subOrganizationId: string; rootUserIds: string[] };
      const people = drafts.map(({ user, privateKey }, index) => {
        return { userId: born.rootUserIds[index] ?? "", userName: user.userName, privateKey };
      });
      return { organizationId: born.subOrganizationId, people };
    },
  };
  return rig;
}

/** Parameters of a user with one key, and the key. */
export function newUser(userName: string) {
  const privateKey = p256.utils.randomSecretKey();
  const publicKey = toHex(p256.getPublicKey(privateKey));
  const apiKeys = [{ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }];
  return { user: { userName, apiKeys, authenticators: [], oauthProviders: [] }, privateKey };
}

export function inProcess({ operations }: Pick<SignerRig, "operations">): SignerLink {
  const request = async (kind: MessageKind, message: never) => operations[kind](message);
  return {
    request: request as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
}

/** Two gateways, each with its own signer, on one database: what one has committed, the other knows. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { Fault } from "@keystead/core/fault.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import {
  type ActivityPath,
  createGatewayRig,
  type GatewayRig,
  newUser,
  type Person,
} from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { prepareOnce } from "../../../test/prepare_once.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { activities } from "../../generated/activities.ts";
import { openMemory } from "../../signer/memory/memory.ts";
import { createOperations } from "../../signer/operations.ts";
import { dialectOf } from "../../views/dialect.ts";
import { createReachedLimits } from "../bounds/reached_limits.ts";
import { createRepeats } from "../bounds/repeats.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { joinLog } from "../log/join_log.ts";
import { LogPlaces } from "../places/log_places.ts";
import { createCommitter } from "./committer.ts";
import { createOrganizations } from "./organization_states.ts";
import { submit } from "./submit.ts";

/** Sends through another gateway than the rig's own. */
async function secondGateway(t: TestContext, { store, dependencies, signer }: GatewayRig) {
  const folder = mkdtempSync(join(tmpdir(), "keystead-signer-"));
  const memory = openMemory(folder, signer.rootKey);
  t.after(() => {
    memory.close();
    rmSync(folder, { recursive: true });
  });
  const orders = { ...signer.orders, adoptUnknown: true };
  const operations = createOperations(
    { current: signer.rootKey },
    memory,
    orders,
    () => signer.clock.nowMs,
    () => {},
  );
  operations.hello({ protocol: protocolVersion, keyring: signer.keyring });
  const request = async (kind: keyof typeof operations, message: never) => operations[kind](message);
  const plain = { request, preparing: () => 0, attach: () => {}, close: () => {} } as unknown as SignerLink;
  const places = new LogPlaces(plain);
  const link = places.watch(plain);
  const committer = createCommitter(store, link, { places });
  await joinLog({ store, link, committer, places, sign: assert.fail, note: assert.fail }, { serves: true });
  const second = {
    ...dependencies,
    organizations: createOrganizations(store, link, () => undefined),
    committer,
    repeats: createRepeats(),
    reachedLimits: createReachedLimits(),
  };
  return async ({ privateKey }: Person, path: ActivityPath, body: Uint8Array) => {
    const stamp = signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
    const answer = await submit(
      second,
      activities[path],
      { body, evidence: stampEvidence(stamp) },
      dialectOf(undefined),
    );
    assert.ok("activity" in answer, JSON.stringify(answer));
    // Nothing is left for the first gateway to release, which would tell its signer of the new state.
    await second.committer.settle();
    return answer.activity;
  };
}

for (const dialect of dialects) {
  test(`on ${dialect} a refusal is never decided on a state that another gateway has left behind`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const elsewhere = await secondGateway(t, rig);
    const { organizationId, people } = await rig.newSubOrganization(2, ["Ann", "Bob", "Cal"]);
    const [ann, bob, cal] = people as [Person, Person, Person];
    const tag = (userTagName: string) => rig.body("create_user_tag", { userTagName, userIds: [] }, { organizationId });

    await t.test("a vote on what was submitted elsewhere", async () => {
      // The first of these opens a run here, which the vote below follows.
      await rig.send(ann, "create_user_tag", tag("here"));
      const { fingerprint } = await elsewhere(ann, "create_user_tag", tag("elsewhere"));
      const voted = await rig.submit(bob, "approve_activity", { fingerprint }, { organizationId });
      assert.equal(voted.status, "ACTIVITY_STATUS_COMPLETED");
    });

    await t.test("a vote of who was let into the quorum elsewhere", async () => {
      const userIds = [ann.userId, bob.userId];
      const without = await rig.submit(ann, "update_root_quorum", { threshold: 2, userIds }, { organizationId });
      await rig.submit(bob, "approve_activity", { fingerprint: without.fingerprint }, { organizationId });
      const waiting = await rig.send(ann, "create_user_tag", tag("of three"));
      const all = rig.body(
        "update_root_quorum",
        { threshold: 2, userIds: [...userIds, cal.userId] },
        { organizationId },
      );
      await elsewhere(ann, "update_root_quorum", all);
      await elsewhere(bob, "update_root_quorum", all);
      const { fingerprint } = waiting;
      const voted = await rig.submit(cal, "approve_activity", { fingerprint }, { organizationId });
      assert.equal(voted.status, "ACTIVITY_STATUS_COMPLETED");
    });

    await t.test("a request of who was added elsewhere", async () => {
      const doomed = await rig.newPerson("opens a run");
      const { user, privateKey } = newUser("nobody: only its key is used");
      const added = rig.body("create_api_keys", {
        userId: rig.root.userId,
        apiKeys: user.apiKeys,
      });
      await elsewhere(rig.root, "create_api_keys", added);
      const byNewKey = { ...rig.root, privateKey };
      const done = await rig.submit(byNewKey, "delete_users", { userIds: [doomed.userId] });
      assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
    });
  });
}

for (const dialect of dialects) {
  test(`on ${dialect} a refusal is never decided on a state that is not committed, and never will be`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(2, ["Ann", "Bob", "Cal"]);
    const [ann, bob, cal] = people as [Person, Person, Person];
    const within = { organizationId };
    const wanted = await rig.submit(ann, "create_user_tag", { userTagName: "wanted", userIds: [] }, within);
    const userIds = [ann.userId, cal.userId];
    const leaving = await rig.submit(ann, "update_root_quorum", { threshold: 2, userIds }, within);

    // Bob leaves the quorum, as far as the signer knows; but the database does not take it.
    const { commit } = rig.dependencies.committer;
    let fail: ((reason: Error) => void) | undefined;
    rig.dependencies.committer.commit = (_item, run) =>
      new Promise((_, reject) => {
        fail = (reason) => {
          run.abandon();
          reject(reason);
        };
      });
    const left = rig.submit(cal, "approve_activity", { fingerprint: leaving.fingerprint }, within);
    const refused = assert.rejects(left, /the disk is full/);
    while (fail === undefined) await new Promise(setImmediate);
    rig.dependencies.committer.commit = commit;
    const voted = rig.submit(bob, "approve_activity", { fingerprint: wanted.fingerprint }, within);
    const early = await Promise.race([voted.then(() => "answered"), new Promise((resolve) => setTimeout(resolve, 50))]);
    assert.equal(early, undefined);
    fail(new Error("the disk is full"));
    assert.equal((await voted).status, "ACTIVITY_STATUS_COMPLETED");
    await refused;
  });
}

for (const dialect of dialects) {
  /** A signer that refuses whatever it is offered, in these words; `between` happens each time before it says so. */
  async function refusing(
    t: TestContext,
    words: (attempt: number) => string,
    between: (rig: GatewayRig, attempt: number) => Promise<void> = async () => undefined,
  ) {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return undefined;
    const told: string[] = [];
    let attempts = 0;
    const request = async () => {
      attempts += 1;
      await between(rig, attempts);
      throw new Fault("aborted", words(attempts));
    };
    const link = { request, preparing: () => 0, attach: () => {}, close: () => {} } as unknown as SignerLink;
    const organizations = createOrganizations(rig.store, link, (_, message) => told.push(message));
    const prepare = () =>
      prepareOnce(organizations, rig.organizationId, {
        body: new Uint8Array(),
        evidence: stampEvidence(""),
        target: undefined,
        records: [],
        cost: 0,
      });
    return { prepare, told, attempts: () => attempts };
  }

  const changeAnyway = async (rig: GatewayRig, attempt: number) => {
    await rig.submit(rig.root, "create_user_tag", { userTagName: `tag ${attempt}`, userIds: [] });
  };

  test(`on ${dialect} whoever is overtaken by others time and again is asked to come again, and no operator is alarmed`, async (t) => {
    const found = await refusing(t, (attempt) => `version ${attempt} is too old`, changeAnyway);
    if (found === undefined) return;
    await assert.rejects(found.prepare(), { code: "unavailable", message: /too many concurrent changes/ });
    assert.equal(found.attempts(), 7);
    assert.deepEqual(found.told, []);
  });

  test(`on ${dialect} a state that is refused, and refused again as it was read anew, is for the operator at once`, async (t) => {
    const found = await refusing(t, (attempt) => `refused for the ${attempt}. time`);
    if (found === undefined) return;
    await assert.rejects(found.prepare(), {
      code: "unavailable",
      message: /failed verification; the operator's log says why/,
    });
    assert.equal(found.attempts(), 2);
    assert.deepEqual(found.told, ["refused for the 2. time"]);
  });

  test(`on ${dialect} a row that was changed is for the operator, however fast others change the organization`, async (t) => {
    const found = await refusing(t, () => "the sealed secret of a wallet does not open", changeAnyway);
    if (found === undefined) return;
    await assert.rejects(found.prepare(), {
      code: "unavailable",
      message: /failed verification; the operator's log says why/,
    });
    assert.equal(found.attempts(), 7);
    assert.deepEqual(found.told, ["the sealed secret of a wallet does not open"]);
  });
}

/** A gateway that lies about the parent whose user acts in a child. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { parentActBody, registerParentAct } from "../../../test/parent_act.ts";
import { addPolicy } from "../../../test/policy_rig.ts";
import type { OfferedState, Request } from "../../frames/messages.ts";
import { loadHeaders, loadState, type StoredState } from "../../store/organizations.ts";

registerParentAct();

async function stateOf({ store }: GatewayRig, organizationId: string): Promise<StoredState> {
  const state = await loadState(store, organizationId);
  assert.ok(state);
  return state;
}

const offered = ({ header, directory, pages }: StoredState, links: Uint8Array[] = []): OfferedState => ({
  header,
  directory,
  pages,
  links,
});

/** A parent whose policy allows its user eve to act in the child. */
async function prepareFamily(t: TestContext) {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const beforeEve = await stateOf(rig, rig.organizationId);
  const eve = await rig.newPerson("eve");
  const policyId = await addPolicy(rig, { condition: "activity.kind == 'OTP_LOGIN'" });
  const { organizationId, people } = await rig.newSubOrganization(1, ["ann"]);
  const [ann] = people;
  assert.ok(ann);
  const body = () => parentActBody(rig, organizationId, ann.userId, "Renamed");
  const ask = async (others: readonly OfferedState[], changes: Partial<Request<"prepare">> = {}) => {
    const sent = changes.body ?? body();
    const evidence = stampEvidence(signStamp(eve.privateKey, "SIGNATURE_SCHEME_TK_API_P256", sent));
    const state = offered(await stateOf(rig, organizationId));
    const none = { journal: undefined, target: undefined, records: [], wishes: [], pages: [], statements: [] };
    const request = { body: sent, evidence, subOrganizationId: undefined, state, ...none, others, ...changes };
    return rig.link.request("prepare", request);
  };
  const now = await stateOf(rig, rig.organizationId);
  return { rig, eve, policyId, organizationId, ask, beforeEve, now };
}

test("without the parent's pages nothing is decided: the signer asks for all of them at once", async (t) => {
  const { rig, ask, now } = await prepareFamily(t);
  const wish = (page: string) => ({
    kind: "otherState",
    value: { organizationId: rig.organizationId, page, linksFrom: now.version + 1, atHand: undefined },
  });
  assert.deepEqual(await ask([]), { kind: "again", value: ["members", "policies", "settings"].map(wish) });
});

test("the newest state of the parent decides, and must stand at the commit", async (t) => {
  const { rig, ask, now } = await prepareFamily(t);
  const reply = await ask([offered(now)]);
  assert.ok(reply.kind === "prepared");
  const [act] = reply.value;
  assert.equal(act?.activity?.status, "ACTIVITY_STATUS_COMPLETED");
  assert.deepEqual(
    act.standing.map(({ organizationId, header }) => [organizationId, Buffer.from(header)]),
    [[rig.organizationId, Buffer.from(now.header)]],
  );
});

test("an older state of the parent, in which a deleted user was there, is asked for again", async (t) => {
  const { rig, eve, ask, now } = await prepareFamily(t);
  await rig.submit(rig.root, "delete_users", { userIds: [eve.userId] });
  assert.equal((await ask([offered(now)])).kind, "again");
  const newest = offered(await stateOf(rig, rig.organizationId));
  await assert.rejects(ask([newest]), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
});

test("a policy that was removed allows nothing, whatever older pages are offered", async (t) => {
  const { rig, policyId, ask, now } = await prepareFamily(t);
  await rig.submit(rig.root, "delete_policy", { policyId });
  const newest = await stateOf(rig, rig.organizationId);
  const swapped = newest.pages.map((page) => now.pages.find(({ name }) => name === page.name) ?? page);
  await assert.rejects(ask([{ ...offered(newest), pages: swapped }]), { code: "aborted", message: /was changed/ });
  assert.equal((await ask([offered(now)])).kind, "again");
  const reply = await ask([offered(newest)]);
  assert.ok(reply.kind === "prepared");
  assert.equal(reply.value[0]?.activity?.status, "ACTIVITY_STATUS_REJECTED");
});

test("pages of two states of the parent are never mixed", async (t) => {
  const { rig, policyId, ask, now } = await prepareFamily(t);
  const policies = now.pages.filter(({ name }) => name === "policies");
  await rig.submit(rig.root, "delete_policy", { policyId });
  const newest = await stateOf(rig, rig.organizationId);
  const members = newest.pages.filter(({ name }) => name !== "policies");
  const mixed = [
    { ...offered(newest), pages: members },
    { ...offered(now), pages: policies },
  ];
  assert.equal((await ask(mixed)).kind, "again");
});

test("another organization's state does not pass for the parent's, nor does a sub-organization of it", async (t) => {
  const { rig, ask, eve } = await prepareFamily(t);
  const { organizationId } = await rig.newSubOrganization(1, ["kim"]);
  assert.ok(eve);
  assert.equal((await ask([offered(await stateOf(rig, organizationId))])).kind, "again");
});

test("no frame makes a parent's user act where the body does not name the child", async (t) => {
  const { ask, rig, organizationId, now } = await prepareFamily(t);
  // The frame says the child, the body the parent: only sign-ins of the child's own users may be asked so.
  const named = parentActBody(rig, rig.organizationId, rig.root.userId, "Renamed");
  await assert.rejects(ask([offered(now)], { body: named, subOrganizationId: organizationId }), { code: "aborted" });
  await assert.rejects(ask([offered(now)], { subOrganizationId: organizationId }), { code: "aborted" });
});

test("a stamp of the parent's user opens nothing that is not open to parents", async (t) => {
  const { ask, rig, organizationId, now } = await prepareFamily(t);
  const body = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, { organizationId });
  await assert.rejects(ask([offered(now)], { body }), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
});

test("what was decided on a state that the parent never had is never released", async (t) => {
  const { rig, ask, now } = await prepareFamily(t);
  const body = rig.body("create_user_tag", { userTagName: "a", userIds: [] });
  const value = signStamp(rig.root.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
  const none = {
    journal: undefined,
    target: undefined,
    records: [],
    wishes: [],
    pages: [],
    others: [],
    statements: [],
  };
  const evidence = { kind: "apiKey", value } as const;
  const moved = await rig.link.request("prepare", {
    ...{ body, evidence, subOrganizationId: undefined, state: offered(now) },
    ...none,
  });
  const next = moved.kind === "prepared" ? moved.value[0]?.next : undefined;
  assert.ok(next);
  const pages = now.pages.map((page) => next.pages.find(({ name }) => name === page.name) ?? page);
  const ahead: StoredState = { version: next.version, header: next.header, directory: next.directory, pages };
  const reply = await ask([offered(ahead, [next.header])]);
  assert.ok(reply.kind === "prepared");
  // The parent goes another way.
  await rig.submit(rig.root, "create_user_tag", { userTagName: "b", userIds: [] });
  const links = await loadHeaders(rig.store, rig.organizationId, 1, next.version);
  const rows = reply.value.map(({ leaf, sealed }) => ({ leaf, sealed }));
  const [outcome] = await rig.link.request("release", { rows, links: [...links, next.header] });
  assert.equal(outcome?.kind, "refused");
});

/** A gateway that wants more of a mailed key or a sign-in code than it is good for. It talks to the signer as it likes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig, type GatewayRig, type Person } from "../../../test/gateway_rig.ts";
import { bundleReader, createFamily, lastMessage, recoveryKeyOf } from "../../../test/mail_rig.ts";
import { passkeyParams } from "../../../test/passkeys.ts";
import { releaseRows } from "../../../test/signer_rig.ts";
import type { OfferedState, Prepared, Request } from "../../frames/messages.ts";
import { attemptKey } from "../../state/record_wish.ts";
import { loadHeaders, loadState } from "../../store/organizations.ts";

async function stateOf({ store }: GatewayRig, organizationId: string): Promise<OfferedState & { version: number }> {
  const state = await loadState(store, organizationId);
  assert.ok(state);
  return { ...state, links: [] };
}

type Asking = Partial<Pick<Request<"prepare">, "records" | "wishes" | "others" | "target" | "subOrganizationId">>;

/** Asks the signer past the gateway. */
function ask(rig: GatewayRig, person: Person, body: Uint8Array, state: OfferedState, asking: Asking = {}) {
  const evidence = stampEvidence(signStamp(person.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body));
  const none = {
    subOrganizationId: undefined,
    journal: new Uint8Array(),
    target: undefined,
    pages: [],
    others: [],
    statements: [],
  };
  return rig.link.request("prepare", { body, evidence, state, records: [], wishes: [], ...none, ...asking });
}

async function prepareRecovery(t: TestContext) {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const family = await createFamily(rig);
  const { within, ann, email, organizationId } = family;
  const recovering = await recoveryKeyOf(rig, ann, email, within);
  const before = await stateOf(rig, organizationId);
  const recovery = (n: number) =>
    rig.body("recover_user", { userId: ann.userId, authenticator: passkeyParams(n) }, within);
  return { rig, ...family, recovering, before, recovery };
}

function rowOf(reply: Awaited<ReturnType<typeof ask>>): Prepared {
  assert.ok(reply.kind === "prepared", JSON.stringify(reply.value));
  return reply.value[0] ?? assert.fail();
}

test("an older state, in which the recovery key was still there, brings it back to no signer that saw it end", async (t) => {
  const { rig, organizationId, recovering, before, recovery } = await prepareRecovery(t);
  await rig.send(recovering, "recover_user", recovery(1));
  const now = await stateOf(rig, organizationId);
  const replayed = await ask(rig, recovering, recovery(2), before).then(
    ({ kind }) => kind,
    ({ code }) => code,
  );
  assert.notEqual(replayed, "prepared");
  // Nor do its own members beside the newest header.
  const pages = now.pages.map((page) => before.pages.find(({ name }) => name === page.name) ?? page);
  await assert.rejects(ask(rig, recovering, recovery(2), { ...now, pages }), { code: "aborted" });
  await assert.rejects(ask(rig, recovering, recovery(2), now), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  const links = await loadHeaders(rig.store, organizationId, before.version, now.version);
  const restarted = rig.signer.restart();
  const evidence = stampEvidence(signStamp(recovering.privateKey, "SIGNATURE_SCHEME_TK_API_P256", recovery(3)));
  const none = {
    subOrganizationId: undefined,
    journal: undefined,
    target: undefined,
    records: [],
    wishes: [],
    pages: [],
  };
  const state = { ...before, links };
  let again = "refused";
  try {
    again = restarted.operations.prepare({
      body: recovery(3),
      evidence,
      state,
      ...none,
      others: [],
      statements: [],
    }).kind;
  } catch {
    // As good.
  }
  assert.notEqual(again, "prepared", "nor after a restart");
});

test("of two recoveries that were prepared with one key, one is released", async (t) => {
  const { rig, recovering, before, recovery } = await prepareRecovery(t);
  const rows: Prepared[] = [];
  // Whose settings say from where passkeys may be used.
  const others = [await stateOf(rig, rig.organizationId)];
  for (const n of [1, 2]) rows.push(rowOf(await ask(rig, recovering, recovery(n), before, { others })));
  assert.deepEqual(
    rows.map(({ activity }) => activity?.status),
    ["ACTIVITY_STATUS_COMPLETED", "ACTIVITY_STATUS_COMPLETED"],
  );
  const kinds = rows.map((row) => releaseRows(rig.signer, [row])[0]?.kind);
  assert.deepEqual(kinds, ["released", "refused"]);
});

test("the signer takes a recovery key for nothing else, whatever a gateway forwards", async (t) => {
  const { rig, within, bob, ann, recovering, before, organizationId } = await prepareRecovery(t);
  const refused = { code: "permission_denied", message: /a recovery key can do nothing but recover its user/ };
  const { targetPublicKey } = bundleReader();
  const bodies = [
    rig.body("create_user_tag", { userTagName: "t", userIds: [] }, within),
    rig.body("create_authenticators", { userId: ann.userId, authenticators: [passkeyParams(1)] }, within),
    rig.body("create_read_write_session", { targetPublicKey }, within),
    rig.body("update_root_quorum", { threshold: 1, userIds: [ann.userId] }, within),
    rig.body("approve_activity", { fingerprint: `sha256:${"00".repeat(32)}` }, within),
  ];
  for (const body of bodies) await assert.rejects(ask(rig, recovering, body, before), refused);
  const { publicKey } = { publicKey: targetPublicKey };
  const named = rig.body("stamp_login", { publicKey });
  await assert.rejects(ask(rig, recovering, named, before, { subOrganizationId: organizationId }), refused);
  const userIds = [ann.userId, bob.userId];
  await rig.submit(bob, "update_root_quorum", { threshold: 2, userIds }, within);
  const waiting = rig.body("create_user_tag", { userTagName: "w", userIds: [] }, within);
  const { fingerprint } = await rig.send(bob, "create_user_tag", waiting);
  const now = await stateOf(rig, organizationId);
  await assert.rejects(ask(rig, recovering, waiting, now), refused, "the same bytes are a vote");
  const vote = rig.body("approve_activity", { fingerprint }, within);
  await assert.rejects(ask(rig, recovering, vote, now, { target: waiting }), refused);
});

test("the same body starts the same sign-in code, and of several right answers one is released", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { organizationId, within, ann, email } = await createFamily(rig);
  const body = rig.body("init_otp_auth", { otpType: "OTP_TYPE_EMAIL", contact: email, appName: "App" }, within);
  await rig.submit(rig.root, "set_organization_feature", { name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" });
  const before = await stateOf(rig, organizationId);
  const others = [await stateOf(rig, rig.organizationId)];
  const results = [];
  for (let time = 0; time < 2; time++) results.push(rowOf(await ask(rig, ann, body, before, { others })));
  const [first, second] = results;
  assert.ok(first && second);
  assert.deepEqual([first.activity?.result, first.codes], [second.activity?.result, second.codes]);
  await rig.send(ann, "init_otp_auth", body);
  const { code } = await lastMessage(rig, organizationId);
  const [started] = first.codes;
  assert.ok(started);
  const { otpId, content } = started;
  const now = await stateOf(rig, organizationId);
  const asking = { records: [{ content, sealed: new Uint8Array() }], wishes: [attemptKey(otpId)] };
  const rows: Prepared[] = [];
  for (let time = 0; time < 3; time++) {
    const { targetPublicKey } = bundleReader();
    const answer = rig.body("otp_auth", { otpId, otpCode: code, targetPublicKey }, within);
    rows.push(rowOf(await ask(rig, ann, answer, now, asking)));
  }
  for (const { activity, sealed } of rows) {
    assert.equal(activity?.status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(JSON.parse(activity?.result ?? "").credentialBundle, "");
    assert.ok(sealed);
  }
  const { targetPublicKey } = bundleReader();
  const fourth = rig.body("otp_auth", { otpId, otpCode: code, targetPublicKey }, within);
  assert.match(rowOf(await ask(rig, ann, fourth, now, asking)).activity?.failure ?? "", /Invalid OTP code/);
  const kinds = rows.map((row) => releaseRows(rig.signer, [row])[0]?.kind);
  assert.deepEqual(kinds, ["released", "refused", "refused"]);
});

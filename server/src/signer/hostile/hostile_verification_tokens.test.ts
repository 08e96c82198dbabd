/**
 * A gateway that wants to sign in as somebody else with tokens that it has seen, or twice with one that is good for a single login. It chooses
 * where a body runs, which states are offered, and what is committed.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { loginParams, newHome, unboundLogin } from "../../../test/code_login_rig.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { newKey } from "../../../test/session_rig.ts";
import { attestedEvidence, heldToken } from "../../../test/verification_tokens.ts";
import type { OfferedState, Prepared, Request } from "../../frames/messages.ts";
import { loadHeaders, loadState, type StoredState } from "../../store/organizations.ts";

const ann = { userEmail: "ann@example.com" };
const notFound = { code: "unauthenticated", errorCode: "CREDENTIAL_NOT_FOUND" };

async function createRig(t: TestContext): Promise<GatewayRig> {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  return rig;
}

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

type Asked = Pick<Request<"prepare">, "body" | "evidence"> & Partial<Request<"prepare">>;

/** One question to the signer, as a gateway may put it. */
function ask(rig: GatewayRig, asked: Asked) {
  const none = {
    journal: undefined,
    target: undefined,
    records: [],
    wishes: [],
    pages: [],
    others: [],
    statements: [],
  };
  return rig.link.request("prepare", { subOrganizationId: undefined, state: undefined, ...none, ...asked });
}

/** A login in a child, stamped by the parent's root user, on this state of the child. */
async function askLogin(rig: GatewayRig, body: Uint8Array, state: StoredState): Promise<Prepared | undefined> {
  const evidence = stampEvidence(signStamp(rig.root.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body));
  const others = [offered(await stateOf(rig, rig.organizationId))];
  const reply = await ask(rig, { body, evidence, state: offered(state), others });
  return reply.kind === "prepared" ? reply.value[0] : undefined;
}

test("a body that names the parent signs nobody in where the contact is not verified, wherever a frame sends it", async (t) => {
  const rig = await createRig(t);
  const { organizationId } = await newHome(rig, ann);
  const held = heldToken(rig.signer);
  const body = rig.body("stamp_login", { publicKey: newKey().publicKey });
  const evidence = attestedEvidence(held, body);
  const state = offered(await stateOf(rig, organizationId));
  await assert.rejects(ask(rig, { body, evidence, state, subOrganizationId: organizationId }), notFound);
  const parent = offered(await stateOf(rig, rig.organizationId));
  await assert.rejects(ask(rig, { body, evidence, state: parent }), notFound);
});

test("a contact that only the gateway knows somebody to have is nobody's", async (t) => {
  const rig = await createRig(t);
  const { organizationId } = await newHome(rig, { userEmail: "bob@example.com" });
  const state = await stateOf(rig, organizationId);
  const held = heldToken(rig.signer);
  const above = rig.body("stamp_login", { publicKey: newKey().publicKey });
  const own = rig.body("stamp_login", { publicKey: newKey().publicKey }, { organizationId });
  const sent = (body: Uint8Array) => ({ body, evidence: attestedEvidence(held, body), state: offered(state) });
  await assert.rejects(ask(rig, { ...sent(above), subOrganizationId: organizationId }), notFound);
  await assert.rejects(ask(rig, sent(own)), notFound);
  // A members page that says otherwise is not the signer's.
  const pages = state.pages.map(({ name, content }) => {
    const text = Buffer.from(content).toString("utf8").replace("bob@example.com", "ann@example.com");
    return { name, content: name === "members" ? Buffer.from(text) : content };
  });
  await assert.rejects(ask(rig, { ...sent(own), state: offered({ ...state, pages }) }), { code: "aborted" });
});

test("a token of another parent, or of a sibling, opens nothing", async (t) => {
  const rig = await createRig(t);
  const { organizationId } = await newHome(rig, ann);
  const sibling = await newHome(rig, ann);
  for (const issuer of ["0195f0aa-0000-7000-8000-000000000001", sibling.organizationId]) {
    const held = heldToken(rig.signer, { organizationId: issuer });
    const body = rig.body("stamp_login", { publicKey: newKey().publicKey }, { organizationId });
    const state = offered(await stateOf(rig, organizationId));
    await assert.rejects(ask(rig, { body, evidence: attestedEvidence(held, body), state }), notFound);
    const login = rig.body("otp_login", loginParams(held), { organizationId });
    const prepared = await askLogin(rig, login, await stateOf(rig, organizationId));
    assert.equal(prepared?.activity?.status, "ACTIVITY_STATUS_FAILED");
    assert.match(prepared?.activity?.failure ?? "", /it was issued by another organization/);
  }
});

test("an older state of the child, which does not know the token yet, is not taken again", async (t) => {
  const rig = await createRig(t);
  const { organizationId } = await newHome(rig, ann);
  const before = await stateOf(rig, organizationId);
  const held = heldToken(rig.signer, { unbound: true });
  await rig.send(rig.root, "otp_login", unboundLogin(rig, organizationId, held));
  const again = unboundLogin(rig, organizationId, held);
  await assert.rejects(askLogin(rig, again, before), { code: "aborted" });
  const older = await stateOf(rig, organizationId);
  // The page alone from before: the directory does not fit it.
  const pages = older.pages.filter(({ name }) => name !== "usedTokens");
  await assert.rejects(askLogin(rig, again, { ...older, pages }), { code: "aborted" });
  const refused = await askLogin(rig, again, older);
  assert.match(refused?.activity?.failure ?? "", /it has made its login/);
});

test("of two logins that are prepared with one unbound token, one is released", async (t) => {
  const rig = await createRig(t);
  const { organizationId } = await newHome(rig, ann);
  const state = await stateOf(rig, organizationId);
  const held = heldToken(rig.signer, { unbound: true });
  const bodies = [unboundLogin(rig, organizationId, held), unboundLogin(rig, organizationId, held)];
  const prepared: Prepared[] = [];
  for (const body of bodies) {
    const one = await askLogin(rig, body, state);
    assert.equal(one?.activity?.status, "ACTIVITY_STATUS_COMPLETED", one?.activity?.failure ?? "");
    if (one !== undefined) prepared.push(one);
  }
  const links = [
    ...(await loadHeaders(rig.store, organizationId, 1, state.version)),
    ...(await loadHeaders(rig.store, rig.organizationId, 1, 1_000)),
    ...prepared.flatMap(({ next }) => (next === undefined ? [] : [next.header])),
  ];
  const outcomes = [];
  for (const { leaf, sealed } of prepared) {
    outcomes.push(...(await rig.link.request("release", { rows: [{ leaf, sealed }], links })));
  }
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ["released", "refused"],
  );
});

test("a token that was made before an accepted restore counts nowhere", async (t) => {
  const rig = await createRig(t);
  const { organizationId } = await newHome(rig, ann);
  const held = heldToken(rig.signer);
  rig.signer.memory.rememberAcceptance(rig.signer.clock.nowMs);
  // It reaches a little ahead.
  rig.signer.clock.nowMs += 600_000;
  const body = rig.body("otp_login", loginParams(held), { organizationId });
  const prepared = await askLogin(rig, body, await stateOf(rig, organizationId));
  assert.match(prepared?.activity?.failure ?? "", /the database was restored since/);
  const login = rig.body("stamp_login", { publicKey: newKey().publicKey }, { organizationId });
  const state = offered(await stateOf(rig, organizationId));
  await assert.rejects(ask(rig, { body: login, evidence: attestedEvidence(held, login), state }), {
    errorCode: "SIGNATURE_INVALID",
  });
});

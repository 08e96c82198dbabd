/** Passkeys from registration to stamped requests, through gateway and signer, on both databases. */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { stampChallenge } from "@keystead/core/webauthn/webauthn_stamp.ts";
import {
  clientDataJson,
  rs256Passkey,
  rsaKeyPair,
  sha256,
  type TestPasskey,
} from "../../../core/test/webauthn/authenticator.ts";
import { type ActivityPath, createGatewayRig, type GatewayRig, Refused } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import {
  authenticator,
  origin,
  passkeyEvidence,
  passkeyParams,
  registeredPasskey,
  rpId,
  testPasskey,
} from "../../test/passkeys.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { authenticateQuery } from "../gateway/evidence/authenticate_query.ts";
import { submit } from "../gateway/submit/submit.ts";
import { activities } from "../generated/activities.ts";
import { withoutMac } from "../state/authenticity.ts";
import { findAuthenticator, findUser } from "../store/users.ts";
import { dialectOf } from "../views/dialect.ts";

async function sendWith(rig: GatewayRig, path: ActivityPath, body: Uint8Array, evidence: SentEvidence) {
  const request = { body, evidence, idempotencyKey: undefined };
  const answer = await submit(rig.dependencies, activities[path] as AnyActivity, request, dialectOf(undefined));
  if ("failure" in answer) throw new Refused(answer.failure);
  return answer.activity;
}

/** A sub-organization whose only root user has nothing but the passkey 0, used from `from`. */
async function newChild(rig: GatewayRig, from = origin) {
  const rootUsers = [{ userName: "Kim", authenticators: [passkeyParams(0, {}, from)] }];
  const parameters = { subOrganizationName: "Sub", rootUsers, rootQuorumThreshold: 1 };
  const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
  const { subOrganizationId, rootUserIds } = result.createSubOrganizationResultV8 as {
    subOrganizationId: string;
    rootUserIds: [string];
  };
  let tags = 0;
  return {
    organizationId: subOrganizationId,
    userId: rootUserIds[0],
    submit(path: ActivityPath, params: unknown, passkey = testPasskey(0), at = from) {
      const body = rig.body(path, params, { organizationId: subOrganizationId });
      return sendWith(rig, path, body, passkeyEvidence(passkey, body, at));
    },
    tag(passkey = testPasskey(0), at = from) {
      return this.submit("create_user_tag", { userTagName: `tag ${tags++}`, userIds: [] }, passkey, at);
    },
  };
}

const refusedAs = (code: string, message: string | RegExp) => ({ code, message });
const unverified = refusedAs("unauthenticated", "could not verify WebAuthN signature");

for (const dialect of dialects) {
  test(`a passkey stamps submits and queries; leaf and vote keep the stamp (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const child = await newChild(rig);
    const done = await child.tag();
    assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
    const [vote] = done.votes;
    assert.equal(vote?.scheme, "SIGNATURE_SCHEME_WEBAUTHN");
    assert.equal(vote?.publicKey, authenticator(0).publicKey);
    assert.equal(JSON.parse(vote?.signature ?? "").credentialId, authenticator(0).credentialId);

    const rows = await rig.store.db.selectFrom("leaves").select("leaf").where("activity_id", "=", done.id).execute();
    const [leaf] = rows.map((row) => decodeLeaf(withoutMac(row.leaf)));
    assert.equal(leaf?.evidence[0]?.content.kind, "webauthn");
    assert.deepEqual(
      leaf?.states.map(({ organizationId }) => uuidFromBytes(organizationId)),
      [child.organizationId, rig.organizationId],
    );

    const query = Buffer.from(JSON.stringify({ organizationId: child.organizationId }));
    const ask = (evidence: SentEvidence, scope: "named" | "sub-organization" = "named", of = child.organizationId) =>
      authenticateQuery(rig.dependencies, of, evidence, query, scope);
    assert.equal((await ask(passkeyEvidence(testPasskey(0), query))).userId, child.userId);
    const atParent = ask(passkeyEvidence(testPasskey(0), query), "sub-organization", rig.organizationId);
    assert.equal((await atParent).organizationId, child.organizationId);
    await assert.rejects(ask(passkeyEvidence(testPasskey(0), query, "https://evil.example")), unverified);
    await assert.rejects(
      ask(passkeyEvidence(testPasskey(1), query)),
      refusedAs("not_found", "webauthn authenticator not found in organization or parent organization"),
    );
    await assert.rejects(
      ask(passkeyEvidence(testPasskey(1), query), "sub-organization", rig.organizationId),
      refusedAs("unauthenticated", "credential ID could not be found in organization or its parent organization"),
    );
  });

  test(`an RSA passkey is registered, shown, and stamps as any other (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, userId, ...child } = await newChild(rig);
    const [key, otherKey] = [rsaKeyPair(), rsaKeyPair()];
    const credentialId = Buffer.from("rsa credential");
    const [passkey, impostor] = [key, otherKey].map((each) => rs256Passkey(each, rpId, credentialId)) as [
      TestPasskey,
      TestPasskey,
    ];
    const added = await child.submit("create_authenticators", {
      userId,
      authenticators: [registeredPasskey(passkey, "rsa")],
    });
    const [id = ""] = (added.result.createAuthenticatorsResult as { authenticatorIds: string[] }).authenticatorIds;
    const spki = createPublicKey(key).export({ format: "der", type: "spki" }).toString("hex");
    assert.equal((await findAuthenticator(rig.store, organizationId, id))?.publicKey, spki);

    const done = await child.tag(passkey);
    assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(done.votes[0]?.publicKey, spki);
    const rows = await rig.store.db.selectFrom("leaves").select("leaf").where("activity_id", "=", done.id).execute();
    const [evidence] = rows.flatMap((row) => decodeLeaf(withoutMac(row.leaf)).evidence);
    assert.ok(evidence?.content.kind === "webauthn");
    assert.equal(evidence.content.value.publicKey.kind, "RS256");

    const query = Buffer.from(JSON.stringify({ organizationId }));
    const ask = (by: TestPasskey) =>
      authenticateQuery(rig.dependencies, organizationId, passkeyEvidence(by, query), query, "named");
    assert.equal((await ask(passkey)).userId, userId);
    await assert.rejects(ask(impostor), unverified);
    await assert.rejects(child.tag(impostor), unverified);
  });

  test(`passkeys are added and deleted, and a deleted one stamps nothing (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, userId, ...child } = await newChild(rig);
    const added = await child.submit("create_authenticators", { userId, authenticators: [passkeyParams(1)] });
    const [id = ""] = (added.result.createAuthenticatorsResult as { authenticatorIds: string[] }).authenticatorIds;
    const stored = await findAuthenticator(rig.store, organizationId, id);
    assert.equal(stored?.credentialId, authenticator(1).credentialId);
    assert.equal((await findUser(rig.store, organizationId, userId))?.authenticators?.length, 2);
    assert.equal((await child.tag(testPasskey(1))).status, "ACTIVITY_STATUS_COMPLETED");
    await assert.rejects(
      child.submit("create_authenticators", { userId, authenticators: [passkeyParams(1)] }),
      /^Error: authenticator with credential id/,
    );
    await child.submit("delete_authenticators", { userId, authenticatorIds: [id] });
    assert.equal(await findAuthenticator(rig.store, organizationId, id), undefined);
    await assert.rejects(
      child.tag(testPasskey(1)),
      refusedAs("not_found", "webauthn authenticator not found in organization or parent organization"),
    );
    const logIn = (named: string) => {
      const publicKey = "02f739f8c77b32f4d5f13265861febd76e7a9c61a1140d296b8c16302508870316";
      const body = rig.body("stamp_login", { publicKey }, { organizationId: named });
      return sendWith(rig, "stamp_login", body, passkeyEvidence(testPasskey(1), body));
    };
    await assert.rejects(
      logIn(organizationId),
      refusedAs("not_found", "webauthn authenticator not found in organization or parent organization"),
    );
    await assert.rejects(
      logIn(rig.organizationId),
      refusedAs("unauthenticated", "credential ID could not be found in organization or its parent organization"),
    );
    const [own] = (await findUser(rig.store, organizationId, userId))?.authenticators ?? [];
    await assert.rejects(
      child.submit("delete_authenticators", { userId, authenticatorIds: [own?.authenticatorId] }),
      /^Error: user missing valid credential/,
    );
  });

  test(`a parent's list of origins binds its children from its commit on (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const child = await newChild(rig);
    const setList = (allowedOrigins: string[]) => rig.submit(rig.root, "update_allowed_origins", { allowedOrigins });
    await child.tag();
    await setList(["https://other.example"]);
    await assert.rejects(child.tag(), unverified);
    const query = Buffer.from(JSON.stringify({ organizationId: child.organizationId }));
    const ask = () =>
      authenticateQuery(rig.dependencies, child.organizationId, passkeyEvidence(testPasskey(0), query), query, "named");
    await assert.rejects(ask(), unverified);
    await setList(["https://other.example", origin]);
    assert.equal((await child.tag()).status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal((await ask()).userId, child.userId);
    // Of an app or page that the passkey's own domain says nothing about.
    assert.equal((await child.tag(testPasskey(0), "https://other.example")).status, "ACTIVITY_STATUS_COMPLETED");
    // An empty list allows nothing, and `*` is no list: the passkey's own domain decides then.
    await setList([]);
    await assert.rejects(child.tag(), unverified);
    await assert.rejects(ask(), unverified);
    await setList(["*"]);
    await assert.rejects(child.tag(testPasskey(0), "https://other.example"), unverified);
    assert.equal((await child.tag()).status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal((await ask()).userId, child.userId);
  });

  test(`with a list, a page in a frame needs the page around it on the list (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const child = await newChild(rig);
    const { organizationId, userId } = child;
    const framed = (body: Uint8Array, more: object) =>
      passkeyEvidence(testPasskey(0), body, origin, (parts) => ({
        ...parts,
        clientDataJson: clientDataJson("webauthn.get", stampChallenge(sha256(body)), origin, more),
      }));
    let tags = 0;
    const act = (more: object) => {
      const params = { userTagName: `framed ${tags++}`, userIds: [] };
      const body = rig.body("create_user_tag", params, { organizationId });
      return sendWith(rig, "create_user_tag", body, framed(body, more));
    };
    const query = Buffer.from(JSON.stringify({ organizationId }));
    const ask = (more: object) =>
      authenticateQuery(rig.dependencies, organizationId, framed(query, more), query, "named");
    const evil = { crossOrigin: true, topOrigin: "https://evil.example" };
    assert.equal((await act(evil)).status, "ACTIVITY_STATUS_COMPLETED", "without a list, any page may frame");
    assert.equal((await ask(evil)).userId, userId);
    await rig.submit(rig.root, "update_allowed_origins", { allowedOrigins: [origin, "https://shop.example"] });
    for (const more of [evil, { crossOrigin: true }, { topOrigin: "https://evil.example" }]) {
      await assert.rejects(act(more), unverified, JSON.stringify(more));
      await assert.rejects(ask(more), unverified, JSON.stringify(more));
    }
    const allowed = { crossOrigin: true, topOrigin: "https://shop.example" };
    assert.equal((await act(allowed)).status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal((await ask(allowed)).userId, userId);
  });

  test(`the parent's state comes along with a passkey's stamp, and is asked for once (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const child = await newChild(rig);
    const { request } = rig.link;
    let asked = 0;
    rig.link.request = ((kind: "prepare", ...rest: [never, never]) => {
      if (kind === "prepare") asked += 1;
      return request(kind, ...rest);
    }) as typeof request;
    const askedFor = async (work: () => Promise<unknown>) => {
      asked = 0;
      await work();
      return asked;
    };
    assert.equal(await askedFor(() => child.tag()), 2, "the signer names what it lacks");
    assert.equal(await askedFor(() => child.tag()), 1);
    // The newest state comes, however often the parent has changed.
    for (const allowedOrigins of [[origin], [], [origin, "https://other.example"]]) {
      await rig.submit(rig.root, "update_allowed_origins", { allowedOrigins });
    }
    assert.equal(await askedFor(() => child.tag(testPasskey(0), "https://other.example")), 1);
  });

  test(`a passkey of the parent reads its children and acts in none (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const child = await newChild(rig);
    await rig.submit(rig.root, "create_authenticators", {
      userId: rig.root.userId,
      authenticators: [passkeyParams(5)],
    });
    const query = Buffer.from(JSON.stringify({ organizationId: child.organizationId }));
    const evidence = passkeyEvidence(testPasskey(5), query);
    const caller = await authenticateQuery(rig.dependencies, child.organizationId, evidence, query, "named");
    assert.equal(caller.organizationId, rig.organizationId);
    await assert.rejects(child.tag(testPasskey(5)), refusedAs("invalid_argument", /^organization mismatch/));
  });
}

/**
 * Sign-ins that name the parent, against a gateway that offers whatever state it likes: of the parent, of another child that knows the
 * same key, of a child of somebody else's. However it goes about it, the same bytes count in one organization.
 */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { makeReadOnlySession } from "@keystead/core/crypto/read_only_session.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { exportClient } from "../../../test/imports.ts";
import { authenticator } from "../../../test/passkeys.ts";
import {
  activityBody,
  anotherOrganization,
  createSignerRig,
  offer,
  type SignerRig,
  type StoredState,
  userWithKey,
} from "../../../test/signer_rig.ts";
import type { User } from "../../state/entities.ts";
import { openKeyring } from "../secrets/keyring.ts";

const login = "ACTIVITY_TYPE_STAMP_LOGIN";
const readWrite = "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2";
const readOnly = "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION";
const freshKey = () => toHex(p256.getPublicKey(p256.utils.randomSecretKey()));
const parametersOf: Record<string, () => object> = {
  [login]: () => ({ publicKey: freshKey() }),
  [readWrite]: () => ({ targetPublicKey: exportClient().targetPublicKey }),
  [readOnly]: () => ({}),
};
const signIns = Object.keys(parametersOf);

/** A signer whose first organization is the parent, two children and a stranger's child, all of which know ann's key. */
function createScene() {
  const rig = createSignerRig();
  const { operations, orders } = rig;
  // As a signer that has joined a running deployment: organizations that the test makes are taken as found.
  const joined = rig.restart({ orders: { adoptUnknown: true } });
  const privateKey = p256.utils.randomSecretKey();
  const child = (parentId: string) => {
    const organizationId = randomUUID();
    const ann = userWithKey("ann", privateKey, rig.clock.nowMs);
    return { organizationId, state: anotherOrganization(joined, organizationId, [ann], { parentId }) };
  };
  const parentId = orders.birth.organizationId;
  void operations;
  return {
    rig: joined,
    privateKey,
    parentId,
    one: child(parentId),
    other: child(parentId),
    foreign: child(randomUUID()),
  };
}

type Child = { organizationId: string; state: StoredState };

function bodyOf(rig: SignerRig, type: string, more: object = {}): Uint8Array {
  return activityBody(rig, type, parametersOf[type]?.(), { ...more });
}

function prepareIn(rig: SignerRig, { organizationId, state }: Child, body: Uint8Array, privateKey: Uint8Array) {
  const stamp = signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
  const reply = offer(rig, state, body, { stamp, subOrganizationId: organizationId });
  return reply.kind === "prepared" ? (reply.value[0] ?? assert.fail()) : assert.fail(JSON.stringify(reply.value));
}

const elsewhere = { code: "failed_precondition", message: /was made in another organization before/ };

for (const type of signIns) {
  test(`${type}: of two children that know the key one takes the body, also after a restart`, () => {
    const { rig, privateKey, one, other } = createScene();
    const body = bodyOf(rig, type);
    const row = prepareIn(rig, one, body, privateKey);
    assert.equal(row.organizationId, one.organizationId);
    assert.equal(row.activity?.status, "ACTIVITY_STATUS_COMPLETED");
    assert.throws(() => prepareIn(rig, other, body, privateKey), elsewhere);
    // Whether it was committed or not, and whoever serves now.
    const later = rig.restart({ orders: { adoptUnknown: true } });
    assert.throws(() => prepareIn(later, other, body, privateKey), elsewhere);
    assert.equal(prepareIn(later, one, body, privateKey).organizationId, one.organizationId);
    assert.equal(prepareIn(later, other, bodyOf(rig, type), privateKey).organizationId, other.organizationId);
  });

  test(`${type}: what the parent has taken runs in no child, nor the reverse`, () => {
    const { rig, one, parentId } = createScene();
    const shared = rig.apiPrivateKey;
    const root = userWithKey("root", shared, rig.clock.nowMs);
    const child = { ...one, state: anotherOrganization(rig, one.organizationId, [root], { parentId }) };
    const inParent = (body: Uint8Array) => offer(rig, rig.born, body);
    const first = bodyOf(rig, type);
    assert.equal(inParent(first).kind, "prepared");
    assert.throws(() => prepareIn(rig, child, first, shared), elsewhere);
    const second = bodyOf(rig, type);
    assert.equal(prepareIn(rig, child, second, shared).organizationId, one.organizationId);
    assert.throws(() => inParent(second), elsewhere);
  });

  test(`${type}: a child of somebody else's is none of the parent's`, () => {
    const { rig, privateKey, one, foreign } = createScene();
    const body = bodyOf(rig, type);
    const refused = { code: "aborted", message: /names another organization, and does not run in this one/ };
    assert.throws(() => prepareIn(rig, foreign, body, privateKey), refused);
    // Nor does a state pass for that of another organization, or a body that names a child for one that names its parent.
    const swapped = { organizationId: one.organizationId, state: foreign.state };
    assert.throws(() => prepareIn(rig, swapped, body, privateKey), /belongs to another organization/);
    const named = bodyOf(rig, type, { organizationId: one.organizationId });
    assert.throws(() => prepareIn(rig, one, named, privateKey), refused);
    const stamp = signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
    assert.throws(() => offer(rig, one.state, body, { stamp }), /belongs to another organization/);
    assert.throws(() => offer(rig, rig.born, body, { stamp }), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  });

  test(`${type}: a key that the child does not know opens nothing there`, () => {
    const { rig, one } = createScene();
    const body = bodyOf(rig, type);
    assert.throws(() => prepareIn(rig, one, body, rig.apiPrivateKey), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  });
}

test("one account that floods with bodies of the future is refused itself, and nobody else is", () => {
  const { rig, privateKey, parentId, one, other } = createScene();
  const timestampMs = String(rig.clock.nowMs + 299_000);
  const flood = () => prepareIn(rig, one, bodyOf(rig, readOnly, { timestampMs }), privateKey);
  flood();
  // The rest of 100,000, as `prepare` notes them.
  const ids = { namedId: uuidToBytes(parentId), organizationId: uuidToBytes(one.organizationId) };
  const refused = { code: "resource_exhausted" };
  let noted = 0;
  const note = () => {
    for (; noted < 100_000; noted++) {
      const fingerprint = new Uint8Array(randomBytes(32));
      rig.memory.takeBody({ ...ids, bodyMs: Number(timestampMs), fingerprint }, () => true, rig.clock.nowMs);
    }
  };
  assert.throws(note, refused);
  assert.ok(noted > 1_000);
  for (const each of [rig, rig.restart({ orders: { adoptUnknown: true } })]) {
    assert.throws(() => prepareIn(each, one, bodyOf(rig, readOnly), privateKey), refused);
    for (const type of signIns) {
      assert.equal(prepareIn(each, other, bodyOf(rig, type), privateKey).organizationId, other.organizationId);
      assert.equal(offer(each, each.born, bodyOf(rig, type)).kind, "prepared");
      // It may still name itself: such a body runs nowhere else, and is not noted.
      const named = bodyOf(rig, type, { organizationId: one.organizationId });
      const stamp = signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", named);
      assert.equal(offer(each, one.state, named, { stamp }).kind, "prepared");
    }
  }
});

test("nothing but a sign-in runs below the organization that it names", () => {
  const { rig, privateKey, one } = createScene();
  const bodies: [string, object][] = [
    ["ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "x", userIds: [] }],
    ["ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", { deleteWithoutExport: true }],
    ["ACTIVITY_TYPE_APPROVE_ACTIVITY", { fingerprint: `sha256:${"0".repeat(64)}` }],
  ];
  for (const [type, parameters] of bodies) {
    const body = activityBody(rig, type, parameters);
    assert.throws(() => prepareIn(rig, one, body, privateKey), /does not run in this one/, type);
  }
});

test("a wallet whose key somebody has only seen signs in to no account that lets in anybody else", () => {
  const { rig, parentId } = createScene();
  const privateKey = secp256k1.utils.randomSecretKey();
  const wallet = (createdAtMs = rig.clock.nowMs): User => {
    const { apiKeys, ...user } = userWithKey("ann", randomBytes(32), createdAtMs, false);
    const publicKey = toHex(secp256k1.getPublicKey(privateKey));
    const type = "CREDENTIAL_TYPE_API_KEY_SECP256K1";
    return { ...user, apiKeys: apiKeys.map((key) => ({ ...key, publicKey, type, curve: "API_KEY_CURVE_SECP256K1" })) };
  };
  const eve = userWithKey("eve", p256.utils.randomSecretKey(), rig.clock.nowMs, false);
  const shared: Record<string, User[]> = {
    "a second user": [wallet(), eve],
    "a second key": [{ ...wallet(), apiKeys: [...wallet().apiKeys, ...eve.apiKeys] }],
    "a passkey": [{ ...wallet(), authenticators: [authenticator(0)] }],
    "an address": [{ ...wallet(), userEmail: "eve@example.com" }],
    "a number": [{ ...wallet(), userPhoneNumber: "+15551234567" }],
    "a key that was added": [wallet(rig.clock.nowMs + 1)],
  };
  const signIn = (users: User[]) => {
    const organizationId = randomUUID();
    const state = anotherOrganization(rig, organizationId, users, { parentId });
    const body = bodyOf(rig, login);
    const stamp = signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_SECP256K1", body);
    return offer(rig, state, body, { stamp, subOrganizationId: organizationId }).kind;
  };
  for (const [what, users] of Object.entries(shared)) {
    assert.throws(() => signIn(users), { errorCode: "PUBLIC_KEY_NOT_FOUND" }, what);
  }
  assert.equal(signIn([wallet()]), "prepared");
});

test("a read-only session moves no signer, whoever sends it", () => {
  const { rig, privateKey: _, one } = createScene();
  const { notarizer } = openKeyring(rig.rootKey, 1, rig.keyring);
  const { organizationId, userId } = rig.orders.birth;
  const value = makeReadOnlySession(notarizer, { organizationId, userId, expiresAtSeconds: 9_999_999_999 });
  const body = bodyOf(rig, login);
  const ask = (state: StoredState, subOrganizationId?: string) =>
    rig.operations.prepare({
      ...{ body, evidence: { kind: "readOnlySession", value }, subOrganizationId, state: { ...state, links: [] } },
      ...{ journal: undefined, target: undefined, records: [], wishes: [], pages: [], others: [], statements: [] },
    });
  assert.throws(() => ask(rig.born), { code: "permission_denied" });
  assert.throws(() => ask(one.state, one.organizationId), { code: "permission_denied" });
});

test("two keys of one read-write session are two states and two ids, and one of them is released", () => {
  const { rig } = createScene();
  const body = bodyOf(rig, readWrite);
  const [first, second] = [1, 2].map(() => {
    const reply = offer(rig, rig.born, body);
    return reply.kind === "prepared" ? (reply.value[0] ?? assert.fail()) : assert.fail();
  });
  assert.ok(first && second);
  const idIn = ({ changes }: typeof first) => {
    const [{ value }] = JSON.parse(changes);
    return value.apiKeys.at(-1).apiKeyId;
  };
  assert.notEqual(idIn(first), idIn(second));
  const open = ({ leaf, sealed }: typeof first) =>
    rig.operations.release({ rows: [{ leaf, sealed }], links: [] })[0]?.kind;
  assert.equal(open(first), "released");
  assert.equal(open(second), "refused");
});

/** A gateway that lies about what came of a sign-in at an OAuth 2.0 provider. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { activityBody, createSignerRig, offer, prepareOn, releaseRows, stateAfter } from "../../../test/signer_rig.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import { type Oauth2Answer, openOrder, orderLifeMs, sealAnswer, sealOrder } from "../../outbox/oauth2_order.ts";
import { sha256 } from "../../state/digest.ts";
import { openKeyring } from "../secrets/keyring.ts";

function createScene() {
  const rig = createSignerRig();
  const { courierKey, publicKeys } = openKeyring(rig.rootKey, 1, rig.keyring);
  const recipient = fromHex(publicKeys.clientSecretEncryption);
  const secret = toHex(sealClientSecret(nodeHpke, recipient, randomBytes(12), Buffer.from("s3cret")));
  const created = prepareOn(
    rig,
    rig.born,
    activityBody(rig, "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL", {
      provider: "OAUTH2_PROVIDER_ALPHA",
      clientId: "client",
      encryptedClientSecret: secret,
    }),
  );
  releaseRows(rig, [created]);
  const { oauth2CredentialId } = JSON.parse(created.activity?.result ?? "");
  const state = stateAfter(rig.born, created);
  const params = { oauth2CredentialId, authCode: "code", redirectUri: "https://a.example", codeVerifier: "verifier" };
  const body = activityBody(rig, "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", { ...params, nonce: "00" });
  const { organizationId } = rig.orders.birth;
  const place = { organizationId, fingerprint: sha256(body) };
  const answer: Oauth2Answer = { userId: "1", bearerToken: "token", exchangedAtMs: rig.clock.nowMs };
  const ask = (statements: readonly Uint8Array[], by = rig) => {
    // The journal of the minute in which the credential was created.
    const first = offer(by, state, body, { statements });
    const isJournal = first.kind === "again" && first.value[0]?.kind === "journal";
    return isJournal
      ? offer(by, state, body, { statements, journal: created.activity?.fingerprint as Uint8Array })
      : first;
  };
  return { rig, courierKey, place, answer, ask };
}

test("an order has what the exchange needs, and opens for the courier and this body alone", () => {
  const { rig, courierKey, place, ask } = createScene();
  const reply = ask([]);
  const [wish] = reply.kind === "again" ? reply.value : [];
  assert.ok(wish?.kind === "oauth2");
  const { clientSecret, ...order } = openOrder(courierKey, place, wish.value.order) ?? assert.fail("closed");
  assert.equal(Buffer.from(clientSecret).toString("utf8"), "s3cret");
  assert.deepEqual(order, {
    provider: "OAUTH2_PROVIDER_ALPHA",
    clientId: "client",
    authCode: "code",
    redirectUri: "https://a.example",
    codeVerifier: "verifier",
    sealedAtMs: rig.clock.nowMs,
  });
  const elsewhere = { ...place, organizationId: randomUUID() };
  assert.equal(openOrder(courierKey, elsewhere, wish.value.order), undefined);
  assert.equal(openOrder(new Uint8Array(randomBytes(32)), place, wish.value.order), undefined);
});

test("no answer but the courier's own to this very body is taken: anything else is asked for again", () => {
  const { courierKey, place, answer, rig, ask } = createScene();
  const good = sealAnswer(courierKey, place, answer);
  const altered = Array.from({ length: good.length }, (_, at) => good.with(at, (good[at] ?? 0) ^ (1 << (at % 8))));
  const { nowMs } = rig.clock;
  const order = {
    provider: "OAUTH2_PROVIDER_ALPHA",
    clientId: "",
    authCode: "",
    redirectUri: "",
    codeVerifier: "",
  } as const;
  const lies: [name: string, statement: Uint8Array][] = [
    ["to another body", sealAnswer(courierKey, { ...place, fingerprint: new Uint8Array(randomBytes(32)) }, answer)],
    ["in another organization", sealAnswer(courierKey, { ...place, organizationId: randomUUID() }, answer)],
    ["under another key", sealAnswer(new Uint8Array(randomBytes(32)), place, answer)],
    ["from long ago", sealAnswer(courierKey, place, { ...answer, exchangedAtMs: nowMs - orderLifeMs - 1 })],
    ["from the future", sealAnswer(courierKey, place, { ...answer, exchangedAtMs: nowMs + 120_000 })],
    ["with a user that is none", sealAnswer(courierKey, place, { ...answer, userId: "1:admin" })],
    ["the order itself", sealOrder(courierKey, place, { ...order, clientSecret: Buffer.from("s"), sealedAtMs: nowMs })],
    ["nothing", new Uint8Array(0)],
    ...altered.map((bytes, at): [string, Uint8Array] => [`altered at ${at}`, bytes]),
  ];
  for (const [name, statement] of lies) {
    const reply = ask([statement]);
    assert.equal(reply.kind === "again" && reply.value[0]?.kind, "oauth2", name);
  }
  const reply = ask([...lies.slice(0, 7).map(([, statement]) => statement), good]);
  assert.ok(reply.kind === "prepared");
  assert.equal(reply.value[0]?.activity?.status, "ACTIVITY_STATUS_COMPLETED");
});

test("one answer makes tokens that end at one time, however often and late they are prepared", () => {
  const { courierKey, place, answer, rig, ask } = createScene();
  const endOf = (reply: ReturnType<typeof ask>) => {
    assert.ok(reply.kind === "prepared" && reply.value[0]?.activity?.result !== undefined);
    return JSON.parse(reply.value[0].activity.result).tokenEndsAtMs;
  };
  const statements = [sealAnswer(courierKey, place, answer)];
  const first = endOf(ask(statements));
  assert.equal(first, Math.floor(answer.exchangedAtMs / 1_000) * 1_000 + 600_000);
  rig.clock.nowMs += orderLifeMs;
  assert.equal(endOf(ask(statements)), first);
  rig.clock.nowMs += 1;
  assert.equal(ask(statements).kind, "again");
});

test("a signer that has no name as an issuer gives no token, and says which setting is missing", () => {
  const { courierKey, place, answer, rig, ask } = createScene();
  const { ownIssuer: _, ...orders } = rig.orders;
  const nameless = rig.restart({ orders: { ...orders, ownIssuer: "" } });
  assert.ok(nameless);
  const reply = ask([sealAnswer(courierKey, place, answer)], { ...nameless });
  assert.ok(reply.kind === "prepared");
  assert.match(reply.value[0]?.activity?.failure ?? "", /KEYSTEAD_PUBLIC_URL/);
});

/** A gateway that lies about what came of a sign-in at an OAuth 2.0 provider. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import {
  activityBody,
  createSignerRig,
  offer,
  only,
  releaseRows,
  type StoredState,
  stateAfter,
} from "../../../test/signer_rig.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import { type Oauth2Answer, openOrder, orderLifeMs, sealAnswer, sealOrder } from "../../outbox/oauth2_order.ts";
import { sha256 } from "../../state/digest.ts";
import { openKeyring } from "../secrets/keyring.ts";

const client = { provider: "OAUTH2_PROVIDER_ALPHA", clientId: "client" } as const;

/** A sign-in at a provider that is asked for: its body, and what the signer says to it on a state and with statements. */
function createSignIn() {
  const rig = createSignerRig();
  const { courierKey, publicKeys } = openKeyring(rig.rootKey, 1, rig.keyring);
  const recipient = fromHex(publicKeys.clientSecretEncryption);
  const envelopeOf = (secret: string) =>
    toHex(sealClientSecret(nodeHpke, recipient, randomBytes(12), Buffer.from(secret)));
  const change = (before: StoredState, type: string, parameters: object) => {
    const body = activityBody(rig, type, parameters);
    // The journal of the minute in which the credential was changed before.
    const first = offer(rig, before, body);
    const reply = first.kind === "again" ? offer(rig, before, body, { journal: journalOf(before) }) : first;
    const prepared = only(reply.kind === "prepared" ? reply.value : assert.fail("not prepared"));
    assert.equal(prepared.activity?.status, "ACTIVITY_STATUS_COMPLETED", prepared.activity?.failure ?? "");
    releaseRows(rig, [prepared]);
    const state = stateAfter(before, prepared);
    journals.set(state.version, [...journalOf(before), ...(prepared.activity.fingerprint ?? [])]);
    return { state, result: JSON.parse(prepared.activity.result ?? "") };
  };
  const journals = new Map<number, number[]>();
  const journalOf = ({ version }: StoredState) => Uint8Array.from(journals.get(version) ?? []);
  const fields = { ...client, encryptedClientSecret: envelopeOf("s3cret") };
  const created = change(rig.born, "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL", fields);
  const { oauth2CredentialId } = created.result;
  const params = { oauth2CredentialId, authCode: "code", redirectUri: "https://a.example", codeVerifier: "verifier" };
  const body = activityBody(rig, "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", { ...params, nonce: "00" });
  const { organizationId } = rig.orders.birth;
  const place = { organizationId, fingerprint: sha256(body) };
  const answer: Oauth2Answer = { userId: "1", bearerToken: "token", exchangedAtMs: rig.clock.nowMs };
  const ask = (statements: readonly Uint8Array[], { by = rig, state = created.state } = {}) => {
    const first = offer(by, state, body, { statements });
    const isJournal = first.kind === "again" && first.value[0]?.kind === "journal";
    return isJournal ? offer(by, state, body, { statements, journal: journalOf(state) }) : first;
  };
  const update = (more: object) =>
    change(created.state, "ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL", { oauth2CredentialId, ...fields, ...more }).state;
  return { rig, courierKey, place, answer, ask, update, envelopeOf };
}

/** That nothing was decided: an order is asked for, as at first. */
function assertAskedAgain(reply: ReturnType<ReturnType<typeof createSignIn>["ask"]>, what: string): void {
  assert.equal(reply.kind === "again" && reply.value[0]?.kind, "oauth2", what);
}

test("an order has what the exchange needs, and opens for the courier and this body alone", () => {
  const { rig, courierKey, place, ask } = createSignIn();
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

test("no answer but the courier's own to this very body is taken: anything else is asked for again", (t) => {
  const { courierKey, place, answer, rig, ask } = createSignIn();
  const good = sealAnswer(courierKey, place, client, answer);
  const altered = Array.from({ length: good.length }, (_, at) => good.with(at, (good[at] ?? 0) ^ (1 << (at % 8))));
  const { nowMs } = rig.clock;
  const order = { ...client, authCode: "", redirectUri: "", codeVerifier: "" };
  const sealed = (more: Partial<Oauth2Answer> = {}, at: Partial<typeof place> = {}, key = courierKey) =>
    sealAnswer(key, { ...place, ...at }, client, { ...answer, ...more });
  const lies: [name: string, statement: Uint8Array][] = [
    ["to another body", sealed({}, { fingerprint: new Uint8Array(randomBytes(32)) })],
    ["in another organization", sealed({}, { organizationId: randomUUID() })],
    ["under another key", sealed({}, {}, new Uint8Array(randomBytes(32)))],
    ["from long ago", sealed({ exchangedAtMs: nowMs - orderLifeMs - 1 })],
    ["from the future", sealed({ exchangedAtMs: nowMs + 120_000 })],
    ["with a user that is none", sealed({ userId: "1:admin" })],
    ["for another client", sealAnswer(courierKey, place, { ...client, clientId: "another" }, answer)],
    ["of another provider", sealAnswer(courierKey, place, { ...client, provider: "OAUTH2_PROVIDER_BETA" }, answer)],
    ["the order itself", sealOrder(courierKey, place, { ...order, clientSecret: Buffer.from("s"), sealedAtMs: nowMs })],
    ["nothing", new Uint8Array(0)],
    ["cut off", good.subarray(0, -1)],
    ["prolonged", Uint8Array.of(...good, 0)],
  ];
  for (const [name, statement] of lies) assertAskedAgain(ask([statement]), name);
  // Each byte altered. A frame may bring several statements, and one good one among them would be enough.
  assertAskedAgain(ask(altered), `${altered.length} altered answers`);
  const reply = ask([...lies.map(([, statement]) => statement), ...altered, good]);
  assert.ok(reply.kind === "prepared");
  assert.equal(reply.value[0]?.activity?.status, "ACTIVITY_STATUS_COMPLETED");
  t.diagnostic(`${lies.length + altered.length} answers of a hostile gateway: 0 decided`);
});

/**
 * Client ids are public. Who may update a credential of their own organization could else have a code exchanged that a user gave to their own
 * application, name another organization's application while the courier is on its way, and sign in there as that user.
 */
test("an answer for the client that a credential had before is none for the one that it has now", () => {
  for (const more of [{ clientId: "another" }, { provider: "OAUTH2_PROVIDER_BETA" }]) {
    const { courierKey, place, answer, ask, update } = createSignIn();
    const exchanged = sealAnswer(courierKey, place, client, answer);
    const state = update(more);
    assertAskedAgain(ask([exchanged], { state }), JSON.stringify(more));
    const again = ask([sealAnswer(courierKey, place, { ...client, ...more } as never, answer)], { state });
    assert.equal(again.kind, "prepared", "what was exchanged for the new one is taken");
  }
});

test("a client's new secret does not make the exchange with its old one another client's", () => {
  const { courierKey, place, answer, ask, update, envelopeOf } = createSignIn();
  const state = update({ encryptedClientSecret: envelopeOf("n3w") });
  assert.equal(ask([sealAnswer(courierKey, place, client, answer)], { state }).kind, "prepared");
});

test("one answer makes tokens that end at one time, however often and late they are prepared", () => {
  const { courierKey, place, answer, rig, ask } = createSignIn();
  const endOf = (reply: ReturnType<typeof ask>) => {
    assert.ok(reply.kind === "prepared" && reply.value[0]?.activity?.result !== undefined);
    return JSON.parse(reply.value[0].activity.result).tokenEndsAtMs;
  };
  const statements = [sealAnswer(courierKey, place, client, answer)];
  const first = endOf(ask(statements));
  assert.equal(first, Math.floor(answer.exchangedAtMs / 1_000) * 1_000 + 600_000);
  rig.clock.nowMs += orderLifeMs;
  assert.equal(endOf(ask(statements)), first);
  rig.clock.nowMs += 1;
  assert.equal(ask(statements).kind, "again");
});

test("a signer that has no name as an issuer gives no token, and says which setting is missing", () => {
  const { courierKey, place, answer, rig, ask } = createSignIn();
  const { ownIssuer: _, ...orders } = rig.orders;
  const nameless = rig.restart({ orders: { ...orders, ownIssuer: "" } });
  assert.ok(nameless);
  const reply = ask([sealAnswer(courierKey, place, client, answer)], { by: nameless });
  assert.ok(reply.kind === "prepared");
  assert.match(reply.value[0]?.activity?.failure ?? "", /KEYSTEAD_PUBLIC_URL/);
});

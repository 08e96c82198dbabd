/** list_app_proofs, get_proof_context: proofs of activities that asked for them, checked with the published package. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { verifyAppProofSignature } from "@turnkey/crypto";
import { invalid, notFound } from "../refusals.ts";
import { assertAccepted, assertRefused } from "../wire.ts";
import { queryEntry } from "./entry.ts";
import { digestOf, envelope, type Fixture, type Json } from "./fixture.ts";
import type { Place } from "./stage.ts";

/** An activity of the place that asks for app proofs, done. */
async function provenActivity(fixture: Fixture, { organizationId, root }: Place): Promise<Json> {
  const parameters = { userTagName: randomUUID(), userIds: [] };
  const body = { ...envelope("ACTIVITY_TYPE_CREATE_USER_TAG", organizationId, parameters), generateAppProofs: true };
  const answer = await fixture.send({ kind: "submit", path: "create_user_tag", body, key: root.p256 });
  assertAccepted(answer);
  return answer.json.activity;
}

function outcomeIn({ appProofs }: Json): Json {
  assert.equal(appProofs.length, 1);
  verifyAppProofSignature(appProofs[0]);
  return JSON.parse(appProofs[0].proofPayload).policyOutcomeProof;
}

export const listAppProofs = queryEntry<{ activityId: string }>({
  good: async (fixture, place) => ({ activityId: (await provenActivity(fixture, place)).id }),
  required: ["activityId"],
  answer: async ({ activityId }, { appProofs, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    assert.equal(outcomeIn({ appProofs }).outcome, "OUTCOME_ALLOW");
    const { activity } = await fixture.ask("get_activity", { activityId });
    assert.deepEqual(activity.appProofs, appProofs);
  },
  bad: [],
  foreign: [
    {
      name: "an activity",
      bend: (_, { activityId }) => ({ activityId }),
      refusal: ({ activityId }, { organizationId }) =>
        notFound(`unable to find activity ${activityId} in organization ${organizationId}`),
    },
  ],
  also: {
    "an activity that asked for none has none": async (fixture) => {
      const answer = await fixture.submit("create_user_tag", { userTagName: randomUUID(), userIds: [] });
      assertAccepted(answer);
      const { id: activityId } = answer.json.activity;
      assert.deepEqual(await fixture.ask("list_app_proofs", { activityId }), { appProofs: [] });
    },
    "each account of a wallet is proven with its address": async (fixture) => {
      const account = {
        curve: "CURVE_SECP256K1",
        pathFormat: "PATH_FORMAT_BIP32",
        path: "m/44'/60'/0'/0/0",
        addressFormat: "ADDRESS_FORMAT_ETHEREUM",
      };
      const parameters = { walletName: randomUUID(), accounts: [account] };
      const { organizationId, root } = fixture.place;
      const body = { ...envelope("ACTIVITY_TYPE_CREATE_WALLET", organizationId, parameters), generateAppProofs: true };
      const answer = await fixture.send({ kind: "submit", path: "create_wallet", body, key: root.p256 });
      assertAccepted(answer);
      const { appProofs, result } = answer.json.activity;
      for (const proof of appProofs) verifyAppProofSignature(proof);
      const { walletId, addresses } = result.createWalletResult;
      assert.deepEqual(JSON.parse(appProofs[0].proofPayload).addressDerivationProof, {
        organizationId,
        walletId,
        derivationPath: account.path,
        address: addresses[0],
      });
      assert.equal(appProofs.length, 2);
    },
  },
});

const noContext = (digest: string, organizationId: string) =>
  notFound(`unable to find decision context ${digest} in organization ${organizationId}`);

export const getProofContext = queryEntry<{ digest: string }>({
  good: async (fixture, place) => ({
    digest: outcomeIn(await provenActivity(fixture, place)).decisionContextDigest,
  }),
  required: ["digest"],
  answer({ digest }, { content, parts, body, ...nothing }) {
    assert.deepEqual(nothing, {});
    assert.equal(digestOf(Buffer.from(content, "base64")), `sha256:${digest}`);
    assert.ok(parts.length >= 2);
    assert.equal(JSON.parse(Buffer.from(body, "base64").toString()).generateAppProofs, true);
  },
  bad: [
    {
      name: "no digest",
      bend: () => ({ digest: "sha256" }),
      refusal: invalid("invalid request body: field `digest` has characters that are not allowed"),
    },
    {
      name: "a digest of nothing",
      bend: () => ({ digest: "0".repeat(64) }),
      refusal: (_, { place }) => noContext("0".repeat(64), place.organizationId),
    },
  ],
  foreign: [],
  also: {
    "another organization's context is none": async (fixture) => {
      const { sub, place } = fixture;
      const { decisionContextDigest: digest } = outcomeIn(await provenActivity(fixture, place));
      const body = { organizationId: sub.organizationId, digest };
      const answer = await fixture.send({ kind: "query", path: "get_proof_context", body, key: sub.root.p256 });
      assertRefused(answer, noContext(digest, sub.organizationId));
    },
  },
});

/**
 * What a gateway under an attacker's hand can make of policies. It has every page, record and row that there ever was, all with
 * MACs of the signer itself, and the stamps of somebody whom a policy allows one thing. Nothing else may ever be approved.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { Fault } from "@keystead/core/fault.ts";
import { p256 } from "@noble/curves/nist.js";
import { createPolicySigner, type PolicySigner, type RecordRow } from "../../../test/policy_signer_rig.ts";
import {
  activityBody,
  anotherOrganization,
  offer,
  only,
  type StoredState,
  stateAfter,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { pausable } from "../../../test/transactions.ts";
import type { Prepared } from "../../frames/messages.ts";

const completed = "ACTIVITY_STATUS_COMPLETED";
const rejected = "ACTIVITY_STATUS_REJECTED";

function statusOf(prepared: readonly Prepared[]): string | undefined {
  return only(prepared).activity?.status;
}

/** Offers that must come to nothing: refused as a whole, or put on record as refused or failed. */
function assertNothing(t: TestContext, offers: readonly (() => readonly Prepared[])[]): void {
  const counts = { refused: 0, onRecord: 0, approved: 0 };
  for (const make of offers) {
    try {
      const { activity, sealed, next } = only(make());
      const isNothing = activity?.status !== completed && sealed === undefined && next === undefined;
      counts[isNothing ? "onRecord" : "approved"] += 1;
    } catch (error) {
      assert.ok(error instanceof Fault, String(error));
      counts.refused += 1;
    }
  }
  t.diagnostic(`${offers.length} offers: ${JSON.stringify(counts)}`);
  assert.equal(counts.approved, 0);
}

function withPage(state: StoredState, name: string, from: StoredState): StoredState {
  const page = from.pages.find((each) => each.name === name);
  const others = state.pages.filter((each) => each.name !== name);
  return { ...state, pages: page === undefined ? others : [...others, page] };
}

/** Another organization of the same deployment, after its owner did this; and the records that came of it. */
function inAnotherOrganization({ quorum: { rig } }: PolicySigner, type: string, parameters: object) {
  const privateKey = p256.utils.randomSecretKey();
  const owner = userWithKey("Owner", privateKey, rig.clock.nowMs);
  const organizationId = "0aa0aa00-0000-4000-8000-0000000000aa";
  const founded = anotherOrganization(rig, organizationId, [owner]);
  const body = activityBody(rig, type, parameters, { organizationId });
  const reply = offer(rig, founded, body, { stamp: signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body) });
  assert.ok(reply.kind === "prepared");
  const row = only(reply.value);
  assert.equal(row.activity?.status, completed, row.activity?.failure ?? "");
  return { state: stateAfter(founded, row), records: row.records };
}

const tightenings: Readonly<Record<string, (world: PolicySigner, policyId: string) => void>> = {
  edited: ({ done }, policyId) => done("ann", "ACTIVITY_TYPE_UPDATE_POLICY_V2", { policyId, policyCondition: "false" }),
  deleted: ({ done }, policyId) => done("ann", "ACTIVITY_TYPE_DELETE_POLICY", { policyId }),
  "overruled by another": ({ policy }) => policy("No", "activity.action == 'SIGN'", "EFFECT_DENY"),
};

for (const [how, tighten] of Object.entries(tightenings)) {
  test(`a policy that was ${how} allows nothing any more: neither by its old page nor what it allowed once`, (t) => {
    const world = createPolicySigner();
    const { quorum, bring, payload } = world;
    const before = quorum.state;
    const policyId = world.policy("Sign", "activity.kind == 'SIGN_RAW_PAYLOAD'");
    const permissive = quorum.state;
    const all = { policyName: "All", effect: "EFFECT_ALLOW", notes: "" };
    const { state: other } = inAnotherOrganization(world, "ACTIVITY_TYPE_CREATE_POLICY_V3", all);
    const signed = payload();
    const first = bring("dave", signed);
    assert.equal(statusOf(first), completed);
    quorum.commit(first);
    assert.equal(quorum.release(first)[0]?.kind, "released");
    tighten(world, policyId);
    const offers: (() => readonly Prepared[])[] = [];
    for (const body of [signed, payload(), payload("bb")]) {
      // An honest offer is on record as refused, the replayed body like a new one.
      assert.equal(statusOf(bring("dave", body)), rejected);
      const states = [before, permissive, other];
      const patched = states.flatMap((from) => [
        withPage(quorum.state, "policies", from),
        { ...quorum.state, directory: from.directory, pages: from.pages },
      ]);
      for (const state of [...states, ...patched]) offers.push(() => bring("dave", body, { state }));
      for (const { pages } of states) {
        offers.push(() => bring("dave", body, { pages: pages.filter(({ name }) => name === "policies") }));
      }
    }
    assertNothing(t, offers);
    quorum.restart();
    assertNothing(t, offers);
  });
}

test("a loosening that was stamped and passed over is no state to sign on, nor is what was signed on it let out", (t) => {
  const world = createPolicySigner();
  const { quorum, bring, payload } = world;
  const all = { policyName: "All", effect: "EFFECT_ALLOW", notes: "" };
  const kept = only(bring("ann", quorum.body("ACTIVITY_TYPE_CREATE_POLICY_V3", all)));
  const fork = stateAfter(quorum.state, kept);
  const signedOnFork = bring("dave", payload(), { state: fork });
  assert.equal(statusOf(signedOnFork), completed, "prepared, and worth nothing until it is released");
  world.done("ann", "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "Instead", userIds: [] });
  for (let signers = 0; signers < 2; signers++) {
    assert.equal(quorum.release(signedOnFork)[0]?.kind, "refused");
    assert.deepEqual(
      quorum.release([kept, ...signedOnFork]).map(({ kind }) => kind),
      ["refused", "refused"],
    );
    assertNothing(t, [() => bring("dave", payload(), { state: fork })]);
    quorum.restart();
  }
});

test("an interface that is listed is read or stops the decision: it is never as if there were none", (t) => {
  const world = createPolicySigner();
  const { quorum, bring, records, call } = world;
  world.policy("Sign", "activity.kind == 'SIGN_TRANSACTION'");
  world.policy("No pauses", "eth.tx.function_name == 'pause'", "EFFECT_DENY");
  const unlisted = quorum.state;
  assert.equal(statusOf(bring("dave", call())), completed, "nobody knows yet what is called");
  world.contractInterface("pause", pausable);
  world.contractInterface("burn", `0x${"11".repeat(20)}`);
  const isText = ({ sealed }: RecordRow) => sealed.length === 0;
  const keys = records.filter((row) => !isText(row));
  const [own, another] = records.filter(isText);
  assert.ok(own && another);
  const ofOther = inAnotherOrganization(world, "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", {
    ...{ smartContractAddress: pausable, smartContractInterface: "[]", label: "pause" },
    type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
  });
  const elsewhere = createPolicySigner();
  elsewhere.contractInterface("pause", pausable);
  const bent = (at: number): RecordRow => ({ ...own, content: own.content.with(at, (own.content[at] ?? 0) ^ 1) });
  const wrong: Readonly<Record<string, readonly RecordRow[]>> = {
    withheld: [],
    "of another contract": [another],
    "of another organization": ofOther.records,
    "of another deployment": elsewhere.records.filter(isText),
    bent: [bent(5)],
    "bent at its end": [bent(own.content.length - 1)],
    "empty, with its MAC": [{ ...own, content: own.content.subarray(0, 32) }],
    "a key's": keys,
  };
  for (const [name, texts] of Object.entries(wrong)) {
    // A new process each time: what was read once stays known.
    quorum.restart();
    const offered = () => bring("dave", call(), { records: [...keys, ...texts] });
    assert.throws(offered, (error) => error instanceof Fault && error.code === "aborted", name);
  }
  assertNothing(t, [
    () => bring("dave", call(), { state: unlisted }),
    () => bring("dave", call(), { state: withPage(quorum.state, "contractInterfaces", unlisted) }),
    () => bring("dave", call(), { state: withPage(quorum.state, "contractInterfaces", ofOther.state) }),
  ]);
  assert.equal(statusOf(bring("dave", call())), rejected);
});

test("no other record passes for the key that is meant, and no other secret for its own", (t) => {
  const world = createPolicySigner();
  const { bring, records, payload, wallet } = world;
  const account = records.slice();
  const hotKey = { privateKeyName: "Hot", curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };
  const made = world.done<{ privateKeys: [{ privateKeyId: string }] }>("ann", "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", {
    privateKeys: [{ ...hotKey, privateKeyTags: [] }],
  });
  const [{ privateKeyId }] = made.privateKeys;
  const hot = records.slice(account.length);
  world.policy("Signs", "activity.action == 'SIGN'");
  world.policy("Cold does not", `wallet.id == '${wallet.walletId}'`, "EFFECT_DENY");
  assert.equal(statusOf(bring("dave", payload())), rejected);
  assert.equal(statusOf(bring("dave", payload("aa", privateKeyId))), completed);
  // Without its account the address names nothing: the denial does not apply, and there is nothing to sign with.
  assert.equal(statusOf(bring("dave", payload(), { records: hot })), "ACTIVITY_STATUS_FAILED");
  const sealedAs = (rows: readonly RecordRow[], from: readonly RecordRow[]) =>
    rows.map((row) => ({ ...row, sealed: from.at(-1)?.sealed ?? row.sealed }));
  const crossed = sealedAs(account, hot);
  const stranger = createPolicySigner();
  const forCold = [[], hot, crossed, sealedAs(hot, account), [...hot, ...account], [...crossed, ...hot]];
  const forHot = [[], account, sealedAs(hot, account), sealedAs(account, hot)];
  assertNothing(t, [
    ...[...forCold, stranger.records].map((rows) => () => bring("dave", payload(), { records: rows })),
    ...[...forHot, stranger.records].map((rows) => () => bring("dave", payload("aa", privateKeyId), { records: rows })),
  ]);
});

test("a fact about a key that policies ask for is neither held back nor brought in its old form", (t) => {
  const world = createPolicySigner();
  const { quorum, bring, payload, wallet } = world;
  const { walletId } = wallet;
  const rename = (walletName: string) => world.done("ann", "ACTIVITY_TYPE_UPDATE_WALLET", { walletId, walletName });
  const page = `keyFacts/${walletId.slice(0, 2)}`;
  const factsOf = ({ pages }: StoredState) => pages.filter(({ name }) => name === page);
  const without = (state: StoredState) => ({ ...state, pages: state.pages.filter(({ name }) => name !== page) });
  world.policy("Cold signs", "wallet.label == 'Cold'");
  assert.equal(statusOf(bring("dave", payload())), completed);
  rename("Retired");
  const retired = quorum.state;
  assert.equal(statusOf(bring("dave", payload())), rejected);
  rename("Cold");
  const cold = quorum.state;
  assert.equal(statusOf(bring("dave", payload())), completed, "it bears the name again");
  rename("Sold");
  for (let signers = 0; signers < 2; signers++) {
    assert.equal(statusOf(bring("dave", payload())), rejected);
    const bare = without(quorum.state);
    assert.equal(statusOf(bring("dave", payload(), { state: bare, pages: factsOf(quorum.state) })), rejected);
    assertNothing(t, [
      () => bring("dave", payload(), { state: bare, pages: [] }),
      () => bring("dave", payload(), { state: bare, pages: factsOf(cold) }),
      () => bring("dave", payload(), { state: bare, pages: factsOf(retired) }),
      () => bring("dave", payload(), { state: { ...bare, pages: [...bare.pages, ...factsOf(cold)] } }),
      () => bring("dave", payload(), { state: without(retired) }),
      () => bring("dave", payload(), { state: cold }),
    ]);
    quorum.restart();
  }
});

/** Proofs that somebody with a key of its own has made up: what does not fit the context, and a context that does not fit the state. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { activityProvenBy } from "@keystead/core/attestation/app_proof.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decodeHeader, encodeHeader } from "@keystead/core/log/header.ts";
import { proofFile, provenBody, provenParentAct } from "../../test/app_proofs.ts";
import { createGatewayRig } from "../../test/gateway_rig.ts";
import { addPolicy } from "../../test/policy_rig.ts";
import { createEphemeralPair } from "../signer/secrets/ephemeral_pair.ts";
import type { PolicyOutcome } from "../state/app_proof.ts";
import {
  type DecisionContextContent,
  decodeDecisionContext,
  encodeDecisionContext,
} from "../state/decision_context.ts";
import { sha256 } from "../state/digest.ts";
import { Contradiction, decideAgain } from "./decide_again.ts";
import { CannotTell, type ProofFile, parseProofFile } from "./proof_file.ts";

async function provenFile(t: TestContext): Promise<ProofFile> {
  const rig = await createGatewayRig(t, "sqlite");
  if (rig === undefined) assert.fail();
  const body = provenBody(rig, "create_user_tag", { userTagName: "tag", userIds: [] });
  const { appProofs } = await rig.send(rig.root, "create_user_tag", body);
  return parseProofFile(await proofFile(rig, rig.root, appProofs[0] ?? assert.fail()));
}

type Lies = {
  activity?: { activityId?: string | undefined; fingerprint?: string | undefined };
  outcome?: { [Name in keyof PolicyOutcome]?: PolicyOutcome[Name] | undefined };
  context?: (context: DecisionContextContent) => Partial<DecisionContextContent>;
  more?: readonly Uint8Array[];
};

/** The same with these changes, signed by whoever made them. */
function lied(file: ProofFile, { activity = {}, outcome = {}, context = () => ({}), more = [] }: Lies): ProofFile {
  const own = decodeDecisionContext(file.content);
  const content = encodeDecisionContext({ ...own, ...context(own) });
  const payload = JSON.parse(file.appProof.proofPayload);
  const named = { ...payload.policyOutcomeProof, decisionContextDigest: toHex(sha256(content)), ...outcome };
  const proofPayload = JSON.stringify({ ...payload, ...activity, policyOutcomeProof: named });
  const pair = createEphemeralPair();
  return {
    ...file,
    content,
    parts: new Map([...file.parts, ...more.map((part): [string, Uint8Array] => [toHex(sha256(part)), part])]),
    appProof: {
      ...file.appProof,
      proofPayload,
      publicKey: toHex(pair.publicKey),
      signature: toHex(pair.sign(Buffer.from(proofPayload))),
    },
  };
}

test("what the rules do not say again is contradicted, and so is a context that is not the state's", async (t) => {
  const file = await provenFile(t);
  assert.equal(decideAgain(file).outcome, "OUTCOME_ALLOW");
  assert.equal(decideAgain(lied(file, {})).outcome, "OUTCOME_ALLOW", "whose key it is, another command tells");
  const refused = (lies: Lies, message: string) =>
    assert.throws(
      () => decideAgain(lied(file, lies)),
      (error) => {
        assert.ok(error instanceof Contradiction, String(error));
        assert.equal(error.message, message);
        return true;
      },
    );
  const nothing = "0".repeat(64);
  refused({ outcome: { outcome: "OUTCOME_ERROR" } }, "the proof says OUTCOME_ERROR, the rules say OUTCOME_ALLOW");
  refused({ context: () => ({ approvals: [] }) }, "the context has other approvals than the proof");
  refused(
    { context: () => ({ approvals: [] }), outcome: { userRequestApprovals: [] } },
    "the proof says OUTCOME_ALLOW, the rules say OUTCOME_REQUIRES_CONSENSUS",
  );
  refused({ outcome: { organizationDataDigest: nothing } }, "the context is of another state than the proof");
  refused(
    { outcome: { parentOrganizationDataDigest: nothing } },
    "the context is of another state of the parent than the proof",
  );
  refused({ outcome: { decisionContextDigest: nothing } }, "the context is not the one that the proof names");
  refused({ outcome: { organizationId: nothing } }, "the context is of another organization than the proof");
  refused({ context: () => ({ nowMs: 1 }) }, "the context is of another time than the proof");
  refused({ context: () => ({ directory: fromHex(nothing) }) }, "the directory is not the one of the state");
  refused({ context: () => ({ pages: [] }) }, "the context lacks page `members` of the state");
  const [name, digest] = [...file.parts].find(([, part]) => Buffer.from(part).includes('"users"')) ?? assert.fail();
  const other = Buffer.from(Buffer.from(digest).toString().replace('"threshold":1', '"threshold":2'));
  assert.notEqual(toHex(sha256(other)), name);
  const withOther = ({ pages }: DecisionContextContent) => ({
    pages: pages.map((page) => (page.name === "members" ? { ...page, digest: sha256(other) } : page)),
  });
  refused({ context: withOther, more: [other] }, "page `members` is not the one of the state");
  const policies = Buffer.from(JSON.stringify({ format: 1, policies: [] }));
  const ofStranger = ({ pages }: DecisionContextContent) => ({
    pages: [...pages, { organizationId: new Uint8Array(16), name: "policies", digest: sha256(policies) }],
  });
  refused({ context: ofStranger, more: [policies] }, "page `policies` is none that this was decided with");
});

test("a proof is of its own activity alone; one of an earlier release names none, and its context does", async (t) => {
  const file = await provenFile(t);
  const { activityId, fingerprint } = decideAgain(file);
  assert.deepEqual(activityProvenBy(file.appProof), { activityId, fingerprint });
  const others = { activityId: "01970d3c-0000-7000-8000-000000000000", fingerprint: `sha256:${"0".repeat(64)}` };
  const ofOther = `bad app proof: it is of activity ${activityId}, not of ${others.activityId}`;
  const ofOtherRequest = `bad app proof: it is of the request ${fingerprint}, not of ${others.fingerprint}`;
  const contradicted = (given: ProofFile, message: string) =>
    assert.throws(() => decideAgain(given), { name: "Contradiction", message });
  const own = { activityId, fingerprint };
  contradicted({ ...file, expected: others }, ofOther);
  contradicted({ ...file, expected: { ...own, fingerprint: others.fingerprint } }, ofOtherRequest);
  contradicted({ ...file, expected: others, body: undefined }, ofOther);
  assert.equal(decideAgain({ ...file, expected: own }).outcome, "OUTCOME_ALLOW");
  contradicted(
    lied(file, { activity: { activityId: others.activityId } }),
    `bad app proof: it is of activity ${others.activityId}, not of ${activityId}`,
  );
  contradicted(
    lied(file, { activity: { fingerprint: others.fingerprint } }),
    `bad app proof: it is of the request ${others.fingerprint}, not of ${fingerprint}`,
  );
  contradicted(
    lied(file, { activity: { fingerprint: undefined } }),
    "bad app proof: it names its activity in an unknown form",
  );

  const older = lied(file, { activity: { activityId: undefined, fingerprint: undefined } });
  assert.equal(activityProvenBy(older.appProof), undefined);
  assert.deepEqual(decideAgain(older), { outcome: "OUTCOME_ALLOW", activityId, fingerprint });
  contradicted({ ...older, expected: others }, ofOtherRequest);
  contradicted({ ...older, expected: { ...own, activityId: others.activityId } }, ofOther);
});

test("a parent's act is decided on the parent's pages alone, and those are of the state that the proof names", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  if (rig === undefined) assert.fail();
  // Its own policies, and the sub-organization's, are pages that somebody might rather have been asked with.
  await addPolicy(rig, { condition: "true" });
  const { file: text } = await provenParentAct(rig);
  const file = parseProofFile(text);
  assert.equal(decideAgain(file).outcome, "OUTCOME_ALLOW");
  const says = (given: ProofFile) => {
    try {
      return decideAgain(given).outcome;
    } catch (error) {
      if (error instanceof Contradiction || error instanceof CannotTell) return `${error.name}: ${error.message}`;
      throw error;
    }
  };
  const said = (context: Lies["context"], more: readonly Uint8Array[] = []) =>
    says(lied(file, { ...(context && { context }), more }));
  const own = decodeDecisionContext(file.content);
  const parentHeader = own.parentHeader ?? assert.fail();
  const { pages } = own;
  assert.deepEqual(
    pages.map(({ name }) => name),
    ["members", "policies"],
  );

  const loose = Buffer.from(JSON.stringify({ format: 1, policies: [] }));
  const swapped = pages.map((page) => (page.name === "policies" ? { ...page, digest: sha256(loose) } : page));
  const isNotOfState = "Contradiction: page `policies` is not the one of the parent's state";
  assert.equal(
    said(() => ({ pages: swapped }), [loose]),
    isNotOfState,
  );
  assert.equal(
    said(() => ({ pages: pages.slice(0, 1) })),
    "Contradiction: the context lacks page `policies` of the parent's state",
  );
  const mine = pages.map((page) => ({ ...page, organizationId: own.organizationId }));
  assert.equal(
    said(() => ({ pages: mine })),
    "Contradiction: page `members` is none that this was decided with",
  );
  const tags = [...pages, { ...(pages[0] ?? assert.fail()), name: "privateKeyTags" }];
  assert.equal(
    said(() => ({ pages: tags })),
    "Contradiction: page `privateKeyTags` is none that this was decided with",
  );

  const notTheOne = "Contradiction: the parent's header is not the one of its state";
  assert.equal(
    said(() => ({ parentHeader: own.header })),
    notTheOne,
  );
  const header = decodeHeader(parentHeader);
  const made = encodeHeader({ ...header, directory: sha256(loose) });
  assert.equal(
    said(() => ({ parentHeader: made })),
    notTheOne,
  );
  const later = ({ states }: DecisionContextContent) => ({
    states: states.map((state) => ({ ...state, version: state.version + 1 })),
  });
  assert.equal(said(later), notTheOne);
  const unnamed = "Contradiction: the context is of another state of the parent than the proof";
  assert.equal(
    said(() => ({ states: [] })),
    unnamed,
  );
  assert.equal(
    says(lied(file, { context: () => ({ states: [] }), outcome: { parentOrganizationDataDigest: undefined } })),
    "Contradiction: a parent decided, and the context names no state of it",
  );

  const directory = toHex(header.directory);
  const parts = new Map([...file.parts].filter(([digest]) => digest !== directory));
  assert.equal(says({ ...file, parts }), "CannotTell: the directory of the parent's state is missing");
  // Format 1 is the same without the last field, which is one byte where it is absent.
  const bare = encodeDecisionContext({ ...own, parentHeader: undefined });
  const older = Uint8Array.from([1, ...bare.subarray(1, -1)]);
  assert.equal(decodeDecisionContext(older).parentHeader, undefined);
  assert.equal(
    said(() => ({ parentHeader: undefined })),
    "CannotTell: an older release wrote the context: nothing shows that its pages are those of the parent",
  );
});

test("a context of another format is not read, nor one whose parent's header is none", async (t) => {
  const file = await provenFile(t);
  const unread = (content: Uint8Array, message: RegExp) => assert.throws(() => decodeDecisionContext(content), message);
  unread(Uint8Array.from([3, ...file.content.subarray(1)]), /unknown format 3 of a decision's context/);
  unread(new Uint8Array(0), /unknown format undefined of a decision's context/);
  const own = decodeDecisionContext(file.content);
  unread(encodeDecisionContext({ ...own, parentHeader: new Uint8Array(3) }), /malformed/);
});

test("other rules, another proof, or a part that is missing: nobody can tell", async (t) => {
  const file = await provenFile(t);
  const untold = (given: ProofFile, message: RegExp) =>
    assert.throws(
      () => decideAgain(given),
      (error) => error instanceof CannotTell && message.test(error.message),
    );
  untold(lied(file, { context: () => ({ rulesVersion: 99 }) }), /decided by version 99 of the rules/);
  untold({ ...file, body: undefined }, /the request is missing/);
  untold({ ...file, body: Buffer.from("{}") }, /another than the decided one/);
  untold({ ...file, parts: new Map() }, /the directory of the state is missing/);
  untold(
    lied(file, { context: () => ({ directory: undefined }) }),
    /the context has no directory: nothing shows that its pages are those of the state/,
  );
  const address = JSON.stringify({ type: "APP_PROOF_TYPE_ADDRESS_DERIVATION", timestampMs: "1" });
  const pair = createEphemeralPair();
  const appProof = {
    ...file.appProof,
    proofPayload: address,
    publicKey: toHex(pair.publicKey),
    signature: toHex(pair.sign(Buffer.from(address))),
  };
  untold({ ...file, appProof }, /not about a policy's outcome/);
});

/** Proofs that somebody with a key of its own has made up: what does not fit the context, and a context that does not fit the state. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { proofFile, provenBody } from "../../test/app_proofs.ts";
import { createGatewayRig } from "../../test/gateway_rig.ts";
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
  outcome?: Partial<PolicyOutcome>;
  context?: (context: DecisionContextContent) => Partial<DecisionContextContent>;
  more?: readonly Uint8Array[];
};

/** The same with these changes, signed by whoever made them. */
function lied(file: ProofFile, { outcome = {}, context = () => ({}), more = [] }: Lies): ProofFile {
  const own = decodeDecisionContext(file.content);
  const content = encodeDecisionContext({ ...own, ...context(own) });
  const payload = JSON.parse(file.appProof.proofPayload);
  const named = { ...payload.policyOutcomeProof, decisionContextDigest: toHex(sha256(content)), ...outcome };
  const proofPayload = JSON.stringify({ ...payload, policyOutcomeProof: named });
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
  assert.equal(decideAgain(file), "OUTCOME_ALLOW");
  assert.equal(decideAgain(lied(file, {})), "OUTCOME_ALLOW", "whose key it is, another command tells");
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
  refused({ context: ofStranger, more: [policies] }, "page `policies` is of an organization that did not decide");
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
